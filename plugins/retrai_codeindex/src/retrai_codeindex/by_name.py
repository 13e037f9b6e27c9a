"""Resolves the calls of languages without type inference: by scope, import, receiver and arity.

A call of a bare name means, in this order: a definition in the same class, in the same file, in the
files that this one imports or includes, in files of the same folder, or the only one of the
project. A call with a receiver means a method of the type that the receiver is written to be
(`this`, `self`, a class's name), or the only method of that name. The number of arguments decides
between what is left. What is still ambiguous is not resolved.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .languages import CLASS_KINDS
from .python_calls import Found

_FAMILIES = (
    frozenset({"c", "cpp"}),
    frozenset({"javascript", "typescript", "tsx"}),
    frozenset({"go"}),
    frozenset({"rust"}),
    frozenset({"java"}),
)
_SELF = frozenset({"this", "self", "Self", "super"})
_WORD = re.compile(r"[\w$]+")
MAX_CANDIDATES = 200
"""Of a name that many definitions have, a bare call says nothing."""


@dataclass(frozen=True, slots=True)
class _Target:
    path: str
    symbol: str
    kind: str
    parameters: int

    @property
    def dotted(self) -> str:
        return f"{self.path}.{self.symbol}"

    @property
    def owner(self) -> str:
        return self.symbol.rpartition(".")[0]


def families(files: Iterable[tuple[str, str, dict[str, Any]]]) -> Iterator[Family]:
    """Group files by the languages that can call each other.

    Args:
        files: path, language and facts of each.
    """
    every = sorted(files, key=lambda item: item[0])
    for languages in _FAMILIES:
        chosen = [item for item in every if item[1] in languages]
        if chosen:
            yield Family(chosen)


class Family:
    """The files of languages that can call each other."""

    def __init__(self, files: list[tuple[str, str, dict[str, Any]]]) -> None:
        self.files = files
        self.by_name: dict[str, list[_Target]] = {}
        self.bases: dict[str, set[str]] = {}
        for path, _, facts in files:
            for symbol, kind, parameters, _ in facts["defs"]:
                name = symbol.rpartition(".")[2]
                target = _Target(path, symbol, kind, parameters)
                self.by_name.setdefault(name, []).append(target)
            for symbol, names in facts["bases"].items():
                self.bases.setdefault(symbol.rpartition(".")[2], set()).update(names)

    def calls(self) -> Iterator[Found]:
        """The calls, with their targets where they are known."""
        for path, _, facts in self.files:
            near = self._imported(path, facts["imports"])
            for caller, name, receiver, arguments, line in facts["calls"]:
                target = self._target(path, near, caller, name, receiver, arguments)
                dotted = f"{path}.{caller}" if caller else path
                yield Found(dotted, target.dotted if target else None, name, line)

    def inheritance(self) -> Iterator[tuple[str, list[str]]]:
        """Each class with what it is written to inherit from; by name, where that is not of the
        project."""
        for path, _, facts in self.files:
            near = self._imported(path, facts["imports"])
            for symbol, names in facts["bases"].items():
                below = self._class(symbol, path, near)
                known = {name: self._class(name, path, near) for name in names}
                bases = [base.dotted for base in known.values() if base is not None]
                others = [name for name in known if name not in self.by_name]
                if below is not None:
                    yield below.dotted, [*bases, *others]

    def _class(self, symbol: str, path: str, near: frozenset[str]) -> _Target | None:
        named = self.by_name.get(symbol.rpartition(".")[2], ())
        classes = [each for each in named if each.kind in CLASS_KINDS]
        exact = [each for each in classes if (each.path, each.symbol) == (path, symbol)]
        return self._nearest(exact or classes, path, near, -1)

    def _imported(self, path: str, imports: list[str]) -> frozenset[str]:
        """The last words of imports and includes: `shop/cart.h` gives `cart`."""
        words: set[str] = set()
        for text in imports:
            for quoted in re.findall(r"[\"'<]([^\"'>]+)[\"'>]", text) or [text]:
                stem = posixpath.basename(quoted).partition(".")[0]
                words.update((stem, *_WORD.findall(quoted)))
        return frozenset(words)

    def _target(
        self,
        path: str,
        near: frozenset[str],
        caller: str,
        name: str,
        receiver: str,
        arguments: int,
    ) -> _Target | None:
        candidates = self.by_name.get(name, ())
        if not candidates or len(candidates) > MAX_CANDIDATES:
            return None
        own = caller.split(".")
        last = receiver.rpartition(".")[2].strip("*&() ")
        chosen: list[_Target] = []
        if last in _SELF:
            chosen = self._of_types(candidates, set(own[:-1]))
        elif last:
            chosen = self._of_types(candidates, {last})
            if not chosen:
                methods = [each for each in candidates if each.owner or last in near]
                chosen = [each for each in methods if _stem(each.path) == last] or methods
        else:
            chosen = self._of_types(candidates, set(own)) or [
                each for each in candidates if not each.owner or each.kind in CLASS_KINDS
            ]
            chosen = chosen or list(candidates)
        return self._nearest(chosen, path, near, arguments)

    def _of_types(self, candidates: Iterable[_Target], types: set[str]) -> list[_Target]:
        """Those that are members of some types, or of what these inherit from."""
        wanted = set(types)
        for _ in range(5):
            more = {base for each in wanted for base in self.bases.get(each, ())}
            if more <= wanted:
                break
            wanted |= more
        return [each for each in candidates if each.owner.rpartition(".")[2] in wanted - {""}]

    def _nearest(
        self, chosen: list[_Target], path: str, near: frozenset[str], arguments: int
    ) -> _Target | None:
        folder = posixpath.dirname(path)
        tests: tuple[Callable[[_Target], bool], ...] = (
            lambda each: each.path == path,
            lambda each: _stem(each.path) in near,
            lambda each: posixpath.dirname(each.path) == folder,
            lambda each: _top(each.path) == _top(path),
            lambda _: True,
        )
        for test in tests:
            left = [each for each in chosen if test(each)]
            if not left:
                continue
            fitting = [each for each in left if each.parameters in (arguments, -1)] or left
            # A header declares what a source defines.
            bodies = [each for each in fitting if not each.path.endswith((".h", ".hpp", ".hh"))]
            for some in (fitting, bodies):
                if len({each.dotted for each in some}) == 1:
                    return some[0]
            chosen = left
        return None


def _top(path: str) -> str:
    """The first folder of a path."""
    return path.partition("/")[0]


def _stem(path: str) -> str:
    return posixpath.basename(path).partition(".")[0]
