"""Change what a function does inside a process that has imported it already."""

from __future__ import annotations
import __future__

import functools
import gc
import os
from types import CodeType, FunctionType
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from .candidate import Edit, apply_edits
from .source import SourceFile, Unit


def _future_flags() -> int:
    flags = 0
    for name in __future__.all_feature_names:
        flags |= int(getattr(__future__, name).compiler_flag)
    return flags


_FUTURE_FLAGS = _future_flags()

Key = Tuple[str, int, str]


class ImportNeededError(Exception):
    """The change reaches code that runs at import; the module has to be imported anew."""


class Patch(NamedTuple):
    """A function's new source, padded so that its lines keep their numbers."""

    path: str
    line: int
    name: str
    text: str


def inside_functions(source: SourceFile, edits: Sequence[Edit]) -> bool:
    """Whether edits of one file touch nothing but the bodies of functions."""
    return all(source.unit_around(edit.start, edit.end) is not None for edit in edits)


def patches_for(source: SourceFile, edits: Sequence[Edit]) -> Optional[List[Patch]]:
    """The functions that edits of one file change, or None when they reach outside of functions."""
    groups: Dict[int, Tuple[Unit, List[Edit]]] = {}
    for edit in edits:
        unit = source.unit_around(edit.start, edit.end)
        if unit is None:
            return None
        groups.setdefault(unit.first_line, (unit, []))[1].append(edit)
    return [_patch(source, unit, own) for unit, own in groups.values()]


def _patch(source: SourceFile, unit: Unit, edits: Sequence[Edit]) -> Patch:
    start = source.line_start(unit.first_line)
    end = min(source.line_start(unit.last_line + 1), len(source.text))
    local = [Edit(edit.path, edit.start - start, edit.end - start, edit.text) for edit in edits]
    body = apply_edits(source.text[start:end], local)
    head = ""
    if unit.class_name is not None:
        head = "class %s:\n" % unit.class_name
    elif unit.indented:
        head = "if 1:\n"
    padding = unit.first_line - 1 - (1 if head else 0)
    return Patch(source.path, unit.first_line, unit.node.name, "\n" * max(0, padding) + head + body)


class LiveFunctions:
    """The function objects that come from the project's files, found once after collection.

    They are found through the garbage collector, so a function behind decorators, properties or
    a cache is reached like any other, and so is every copy of a module imported twice.
    """

    def __init__(self, root: str) -> None:
        self.by_key: Dict[Key, List[FunctionType]] = {}
        self.caches: List[Any] = []
        real: Dict[str, str] = {}
        cache_type = type(functools.lru_cache()(lambda: None))
        for thing in gc.get_objects():
            if type(thing) is FunctionType:
                name = thing.__code__.co_filename
                path = real.get(name)
                if path is None:
                    path = real[name] = os.path.realpath(name)
                if path.startswith(root):
                    code = thing.__code__
                    self.by_key.setdefault((path, code.co_firstlineno, code.co_name), []).append(
                        thing
                    )
            elif type(thing) is cache_type:
                self.caches.append(thing)

    def swap(self, patches: Sequence[Patch]) -> List[Tuple[FunctionType, CodeType]]:
        """Put new code into the live functions; returns what is needed to undo it.

        Raises SyntaxError for text that does not compile, ImportNeededError when a function is not
        alive or its closure changes.
        """
        undo: List[Tuple[FunctionType, CodeType]] = []
        try:
            for patch in patches:
                live = self.by_key.get((patch.path, patch.line, patch.name), [])
                if not live:
                    raise ImportNeededError(patch.name)
                flags = live[0].__code__.co_flags & _FUTURE_FLAGS
                module = compile(patch.text, patch.path, "exec", flags=flags, dont_inherit=True)
                new = next((c for c in _inside(module) if c.co_name == patch.name), None)
                if new is None:
                    raise ImportNeededError(patch.name)
                for function in live:
                    self._replace(function.__code__, new, function, undo)
        except ValueError as problem:
            restore(undo)
            raise ImportNeededError(str(problem)) from problem
        except BaseException:
            restore(undo)
            raise
        return undo

    def _replace(
        self,
        old: CodeType,
        new: CodeType,
        function: FunctionType,
        undo: List[Tuple[FunctionType, CodeType]],
    ) -> None:
        function.__code__ = new
        undo.append((function, old))
        inner_new: Dict[str, List[CodeType]] = {}
        for code in _inside(new):
            inner_new.setdefault(code.co_name, []).append(code)
        for code in _inside(old):
            same = inner_new.get(code.co_name)
            made = self.by_key.get(
                (os.path.realpath(code.co_filename), code.co_firstlineno, code.co_name), []
            )
            if same:
                replacement = same.pop(0)
                for closure in made:
                    undo.append((closure, closure.__code__))
                    closure.__code__ = replacement

    def clear_caches(self) -> None:
        """Forget what `functools.lru_cache` has stored."""
        for cache in self.caches:
            cache.cache_clear()


def _inside(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _inside(constant)


def restore(undo: Sequence[Tuple[FunctionType, CodeType]]) -> None:
    """Give functions their former code back."""
    for function, code in reversed(undo):
        function.__code__ = code
