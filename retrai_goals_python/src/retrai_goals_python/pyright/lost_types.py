"""Errors that are gone because a type became `Any`, of which pyright allows every use.

A place that had an error when the run began, and whose line stands as it was, is asked for its
types. Where one of them is `Any` now, the old files are asked too. What had no type of its own
before (`object`, `None`, partly `Any`) does not count. Nor does it where names have another written
type now, which the audit reports if it became `Any`, or get another value: what a file of JSON
holds, say.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from retrai_goal_support import python_functions

from ..python_source import Function, last_name, parse
from .output import Diagnostic, Range

_REVEALED = re.compile(r'Type of "\((\d+), (\d+), .*" is "tuple\[[^,]+, [^,]+, (.*)\]"', re.DOTALL)
_ANY = ("Any", "Unknown")
_NO_TYPE = re.compile(r".*\b(?:Any|Unknown|object)\b.*|None", re.DOTALL)
_DETOUR = re.compile(
    r"\b(?:getattr|\w+getter|methodcaller|reduce|eval|import_module|Namespace|vars|globals|cast)\("
)
Types = Mapping[tuple[int, int], str]
"""By the number of a place, and of an expression there."""


class Standing(NamedTuple):
    """Where an error was whose line stands as it was: when the run began, and now."""

    before: Range
    now: Range


Errors = Mapping[str, Mapping[int, Standing]]
"""By file and number."""


def standing(before: str, now: str, errors: Sequence[Range]) -> Iterator[Standing]:
    """The errors of a file whose lines stand there as often as before.

    Args:
        before, now: the file.
        errors: where they were.
    """
    old, new = before.split("\n"), now.split("\n")
    for error in errors:
        number = error.start.line
        same = [at for at, line in enumerate(new) if [line] == old[number : number + 1]]
        if same and len(same) == old.count(old[number]):
            at = same[old[:number].count(old[number])]
            yield Standing(error, error.moved(at - number))


def removed_code_or_types(before: str, now: str, errors: Sequence[Range]) -> str:
    """What was removed instead of corrected: the code of a function with an error, or the types of
    its parameters, as `LINE: NAME ...`; empty where nothing was.

    Args:
        before, now: the file.
        errors: where they were.
    """
    later = python_functions(now)
    for name, old in python_functions(before).items():
        lines = range(old.lineno - 1, old.end_lineno or 0)
        new = later.get(name)
        if new is None or not any(error.start.line in lines for error in errors):
            continue
        if _is_written(old) and not _is_written(new):
            return f"{new.lineno}: {name} had an error, and has no code any more"
        types, types_before = _parameter_types(new), _parameter_types(old)
        if lost := sorted(n for n, known in types.items() if not known and types_before.get(n)):
            function = f"{name}({', '.join(lost)})"
            return f"{new.lineno}: {function} had an error, and has no types any more"
    return ""


def _is_written(function: Function) -> bool:
    """Whether a function is more than a remark that it is to be written, or is abstract."""
    if any(last_name(each) in ("abstractmethod", "overload") for each in function.decorator_list):
        return True
    *others, last = map(ast.unparse, function.body)
    if not last.startswith(("raise NotImplementedError", "...", "pass")):
        return True
    returns = (each for each in ast.walk(function) if isinstance(each, ast.Return))
    return bool(others) and any(each.value for each in returns)


def _parameter_types(function: Function) -> dict[str, ast.expr | None]:
    nodes = ast.iter_child_nodes(function.args)
    return {each.arg: each.annotation for each in nodes if isinstance(each, ast.arg)}


def types_in(said: Iterable[Diagnostic]) -> Types:
    """What `Probes` made pyright reveal at places."""
    matches = (_REVEALED.fullmatch(each.message) for each in said)
    return {(int(match[1]), int(match[2])): match[3] for match in matches if match}


def became_any(before: Types, now: Types) -> set[int]:
    """The places where an expression is `Any` that had a type before."""
    return {
        key[0]
        for key, said in now.items()
        if said in _ANY and not _NO_TYPE.fullmatch(before.get(key, "None"))
    }


def suspects(
    before: Mapping[str, str], texts: Mapping[str, str], errors: Errors, now: Types
) -> Errors:
    """The errors where an expression is `Any` now, and around which no name is written otherwise
    than before.

    Args:
        before, texts: the files, when the run began and now.
        errors: those whose lines stand as they were.
        now: what pyright revealed there.
    """
    numbers = {place for (place, _), said in now.items() if said in _ANY}
    changed = {name: changed_names(before.get(name, ""), text) for name, text in texts.items()}
    retyped = {name for each in changed.values() for name in each["type"]}
    found: defaultdict[str, dict[int, Standing]] = defaultdict(dict)
    for file, some in errors.items():
        if retyped.isdisjoint(_words(texts[file])):
            for number in sorted(some.keys() & numbers):
                names = _names_around(texts[file], some[number].now.start.line)
                if changed[file]["value"].isdisjoint(names):
                    found[file][number] = some[number]
    return found


def changed_names(before: str, now: str) -> dict[str, set[str]]:
    """Names of a file whose written types, or values, have changed.

    Example:
        >>> now = "a: Any = 1\\nd = f = json.loads(t)\\ndef g(): ...\\nb: Any = 2"
        >>> found = changed_names("a = f = 1\\nd = t\\ndef g() -> int: ...", now)
        >>> {kind: sorted(names) for kind, names in found.items()}
        {'type': ['a', 'g'], 'value': ['d', 'f']}
    """
    old, new = _names(before), _names(now)
    found: dict[str, set[str]] = {"type": set(), "value": set()}
    for key in old.keys() & new.keys():
        if new[key] - old[key]:
            found["value" if key[0] == "value" else "type"].add(key[1])
    return found


def _names_around(text: str, line: int) -> set[str]:
    """The names in the outermost statement of a file at a line, from 0."""
    for node in parse(text).body:
        if node.lineno <= line + 1 <= (node.end_lineno or 0):
            return _words(ast.unparse(node))
    return set()


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _names(text: str) -> Mapping[tuple[str, str], set[str]]:
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for node in ast.walk(parse(text)):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                found["def", node.name].add(_text(node.returns))
            case ast.arg():
                found["arg", node.arg].add(_text(node.annotation))
            case ast.AnnAssign():
                found["type", last_name(node.target)].add(_text(node.annotation))
            case ast.Assign():
                value = ast.unparse(node.value)
                for name in map(last_name, node.targets):
                    found["type", name].add("")
                    if not _DETOUR.search(value):
                        found["value", name].add(value)
            case _:
                pass
    return found


def _text(annotation: ast.expr | None) -> str:
    return ast.unparse(annotation) if annotation else ""
