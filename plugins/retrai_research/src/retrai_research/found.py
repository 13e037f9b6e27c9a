"""Reads the answers of the code tools: which places they name, and which lines they show."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal

Lines = Callable[[str], Sequence[str] | None]
"""The lines of a project file by its path; None where there is no such file."""

_PLACE = r"(?P<path>\S(?:.*\S)?):(?P<start>[0-9]+)(?:-(?P<end>[0-9]+))?"
_HIT = re.compile(rf"^{_PLACE}  (?P<kind>\w+)(?: (?P<symbol>.+?))?  \([0-9.]+\)$")
_DEFINITION = re.compile(rf"^(?P<kind>\w+) (?P<symbol>\S+)  {_PLACE}$")
_CALLER = re.compile(rf"^ {{4}}(?P<symbol>\S+)  {_PLACE}  calls in lines? (?P<lines>[0-9, .]+)$")
_CALLEE = re.compile(
    rf"^ {{4}}(?P<symbol>\S+)(?:  {_PLACE})?  called in lines? (?P<lines>[0-9, .]+) of (?P<of>.+)$"
)
_RELATED = re.compile(r"^(?P<what>callers|callees|subclasses) of (?P<of>.+): (?:[0-9]+|none)$")
_UNKNOWN_TARGET = re.compile(r"^(?:calls of this name whose target|with no known target)")
_NAMED = re.compile(rf"^\s*\S.*?  {_PLACE}$")
_UNKNOWN = re.compile(r"^nothing in this project is called (?P<quote>['\"])(?P<name>.+)(?P=quote)$")
_LISTED = re.compile(rf"^ {{4}}(?P<name>\S+)  {_PLACE}$")
ALIKE = 0.75
"""How similar a name must be to be taken for another: 1 is the same."""
_OUTLINED = re.compile(rf"^(?P<indent>(?: {{4}})*)(?P<head>\S.*?)  {_PLACE}$")
_DECLARED = re.compile(r"(\w+)\s*[(\[<]")
_KEYWORDS = frozenset({"fn", "func", "function"})
"""What may stand before a bracket of a signature and is no name: `func (c *Cart) Total()`."""
_NUMBERED = re.compile(r"^\s*([0-9]+)\t")
_MATCHED = re.compile(r"^(?P<path>.+?)(?P<mark>[:-])(?P<line>[0-9]+)(?P=mark) ?(?P<text>.*)$")
_RANGE_NOTE = re.compile(r"^\[lines? (?P<first>[0-9]+)(?: to [0-9]+)? of [0-9]+")


@dataclass(frozen=True, slots=True)
class Place:
    """A range of lines of a project file, both ends included."""

    path: str
    start: int
    end: int

    def __str__(self) -> str:
        span = f"{self.start}-{self.end}" if self.end > self.start else str(self.start)
        return f"{self.path}:{span}"


@dataclass(frozen=True, slots=True)
class Named:
    """A definition, or a block of text, that a tool has named."""

    place: Place
    kind: str = ""
    symbol: str = ""
    signature: str = ""
    doc: str = ""


Relation = Literal["caller", "possible caller", "callee", "possible callee", "subclass"]
"""Possible is what has the name, where the index does not know the target of the call."""


@dataclass(frozen=True, slots=True)
class Related:
    """What calls a definition, is called by it, or inherits from it.

    Attributes:
        of: the dotted name that was asked about.
        symbol: the dotted name of the related definition.
        place: where that is defined; None outside the project.
        relation: what it is of the one that was asked about.
    """

    of: str
    symbol: str
    place: Place | None
    relation: Relation


def normal_path(path: str) -> str:
    """A path as tools print it: with slashes, without `./`."""
    return posixpath.normpath(path.replace("\\", "/"))


def hits(text: str) -> list[Named]:
    """The results of `search_codebase`, or the definitions of `get_symbol_definition`."""
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in text.split("\n"):
        if match := _HIT.match(line) or _DEFINITION.match(line):
            found.append((match, []))
        elif _RELATED.match(line):
            break
        elif found and line.startswith("    "):
            found[-1][1].append(line.strip())
    return [_named(match, below) for match, below in found]


def outline(text: str) -> list[Named]:
    """The results of `get_module_summary`: the module, then its definitions, in their order."""
    first = _OUTLINED.match(text.partition("\n")[0])
    if first is None or first["head"] != first["path"]:
        return []
    found: list[Named] = []
    scopes: list[str] = []
    for line in text.split("\n"):
        if match := _OUTLINED.match(line):
            depth, head = len(match["indent"]) // 4, match["head"]
            names = [name for name in _DECLARED.findall(head) if name not in _KEYWORDS]
            scopes = [*scopes[: depth - 1], names[0] if names else head.split()[-1]][:depth]
            kind = "definition" if depth else "module"
            signature = head if depth else ""
            found.append(Named(_place(match), kind, ".".join(scopes), signature))
        elif not found[-1].doc:
            found[-1] = replace(found[-1], doc=line.strip())
    return found


def unknown_names(text: str) -> dict[str, list[Named]]:
    """The name that a tool did not find, with the similar ones that it lists, the closest first.

    They are compared by as many parts as the name has.
    """
    first, *rest = text.split("\n")
    match = _UNKNOWN.match(first)
    if match is None:
        return {}
    name = match["name"]
    similar: dict[str, Named] = {}
    for line in rest:
        if other := _LISTED.match(line):
            named = Named(_place(other), symbol=_within_file(other["name"], other["path"]))
            similar.setdefault(end_of(named.symbol, name), named)
    closest = get_close_matches(name, similar, n=3, cutoff=ALIKE)
    return {name: [similar[each] for each in closest]}


def end_of(symbol: str, name: str) -> str:
    """The end of a dotted name, with as many parts as another has.

    Example:
        >>> end_of("shop.cart.Cart.total", "Crat.totla")
        'Cart.total'
    """
    return ".".join(symbol.split(".")[-name.count(".") - 1 :])


def related(text: str) -> list[Related]:
    """What the results of `get_callers`, `get_callees` and `get_symbol_definition` list."""
    found: list[Related] = []
    of, is_known, lists_subclasses = "", True, False
    for line in text.split("\n"):
        if head := _RELATED.match(line):
            of, is_known, lists_subclasses = head["of"], True, head["what"] == "subclasses"
        elif _UNKNOWN_TARGET.match(line):
            is_known = False
        elif match := _CALLER.match(line):
            relation = "caller" if is_known else "possible caller"
            found.append(Related(of, match["symbol"], _place(match), relation))
        elif match := _CALLEE.match(line):
            place = _place(match) if match["path"] else None
            relation = "callee" if is_known else "possible callee"
            found.append(Related(of, match["symbol"], place, relation))
        elif lists_subclasses and (match := _LISTED.match(line)):
            found.append(Related(of, match["name"], _place(match), "subclass"))
    return found


def shown_places(tool: str, args: Mapping[str, Any], text: str, lines: Lines) -> Iterator[Place]:
    """The places that a tool's answer shows.

    A tool that names a definition shows its lines. A list of files shows none. Of a tool that is
    not ours count only lines in grep's form, `path:12: text`, that stand in the file like that.

    Args:
        tool: its name.
        args: its arguments.
        text: its answer, as the model read it.
        lines: the project's files.
    """
    if tool == "search_codebase":
        yield from (each.place for each in hits(text))
    elif tool in ("read_file", "file_read"):
        path = normal_path(str(args.get("file_path") or args.get("path") or ""))
        yield from _read_lines(path, args, text, lines)
    elif tool in ("get_callers", "get_callees"):
        yield from _call_places(text)
    elif tool in ("get_symbol_definition", "get_call_chain", "get_module_summary"):
        yield from (_place(m) for line in text.split("\n") if (m := _NAMED.match(line)))
    elif tool not in ("list_directory", "file_list", "find_files"):
        yield from _matched_lines(text, lines)


def _call_places(text: str) -> Iterator[Place]:
    for line in text.split("\n"):
        if match := _CALLER.match(line):
            yield _place(match)
        elif match := _CALLEE.match(line):
            if match["path"]:
                yield _place(match)
            for number in map(int, re.findall(r"[0-9]+", match["lines"])):
                yield Place(match["of"], number, number)
        elif match := _NAMED.match(line):  # one of several definitions with the name
            yield _place(match)


def _read_lines(path: str, args: Mapping[str, Any], text: str, lines: Lines) -> Iterator[Place]:
    shown = text.split("\n")
    numbers = [int(m[1][:9]) for line in shown if (m := _NUMBERED.match(line))]
    if numbers and (args.get("line_numbers") or "file_path" in args):
        yield from _runs(path, numbers)
        return
    of_file = lines(path) or ()
    note = next((m for line in reversed(shown) if (m := _RANGE_NOTE.match(line))), None)
    first = int(note["first"]) if note else int(args.get("start_line") or 1)
    count = 0
    for line, real in zip(shown, of_file[first - 1 :], strict=False):
        if line.rstrip() != real.rstrip():
            break
        count += 1
    if count:
        yield Place(path, first, first + count - 1)


def _matched_lines(text: str, lines: Lines) -> Iterator[Place]:
    for line in text.split("\n"):
        match = _MATCHED.match(line)
        if match is None:
            continue
        path, number = normal_path(match["path"]), int(match["line"][:9])
        of_file = lines(path) or ()
        real = of_file[number - 1] if 0 < number <= len(of_file) else None
        if real is not None and real.strip() == match["text"].strip():
            yield Place(path, number, number)


def _runs(path: str, numbers: Sequence[int]) -> Iterator[Place]:
    start = before = numbers[0]
    for number in numbers[1:]:
        if number != before + 1:
            yield Place(path, start, before)
            start = number
        before = number
    yield Place(path, start, before)


def _place(match: re.Match[str]) -> Place:
    start = int(match["start"])
    return Place(match["path"], start, int(match["end"] or start))


def _named(match: re.Match[str], below: Sequence[str]) -> Named:
    """Below a definition stand its signature and its docstring; either may be missing."""
    symbol = _within_file(match["symbol"] or "", match["path"])
    rest = list(below)
    last = re.split(r"[.:]", symbol)[-1]
    signature = rest.pop(0) if rest and last and last in rest[0] and _is_signature(rest[0]) else ""
    return Named(_place(match), match["kind"], symbol, signature, " ".join(rest))


def _is_signature(line: str) -> bool:
    return bool(re.match(r"[\w@*&<\[(#\"'~].*", line)) and not line.endswith(".")


def _within_file(symbol: str, path: str) -> str:
    """A dotted name without the module that its file is: `shop.cart.Cart` in `shop/cart.py`."""
    if symbol.startswith(f"{path}."):
        return symbol.removeprefix(f"{path}.")
    parts = symbol.split(".")
    module = path.rpartition(".")[0].removesuffix("/__init__").split("/")
    known = (n for n in range(min(len(parts) - 1, len(module)), 0, -1) if parts[:n] == module[-n:])
    return ".".join(parts[next(known, 0) :])
