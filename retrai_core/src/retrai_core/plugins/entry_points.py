"""Reads `entry_points.txt`; a malformed line becomes an entry with its problem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .kinds import KIND_OF, Kind

_NOT_UTF8 = "\ufffd"


class EntryLine(NamedTuple):
    """One entry point of a retrai group; `problem` is empty if it can be used."""

    kind: Kind
    name: str
    value: str
    problem: str = ""

    @property
    def module(self) -> str:
        """The module that the entry point names."""
        return self.value.partition(":")[0]


def lines_by_group(raw: bytes) -> Iterator[tuple[str, int, str]]:
    """Each line of an `entry_points.txt` that says something: its group, its number, itself."""
    group = ""
    for number, text in enumerate(raw.decode("utf-8", "replace").splitlines(), 1):
        line = text.strip()
        if line.startswith("["):
            group = line.strip("[]").strip()
        elif line and not line.startswith(("#", ";")):
            yield group, number, line


def parse_entry_points(raw: bytes) -> Iterator[EntryLine]:
    """The entry points of retrai's groups, in the order of the file.

    Names may hold spaces and any letters; a line that is not `name = module:attribute` in UTF-8
    gives an entry with a `problem`, so that one bad line hides no other.
    """
    for group, number, line in lines_by_group(raw):
        if group in KIND_OF:
            yield _entry(KIND_OF[group], line, f"entry_points.txt line {number}")


def _entry(kind: Kind, line: str, where: str) -> EntryLine:
    name, equals, value = (part.strip() for part in line.partition("="))
    if _NOT_UTF8 in line:
        return EntryLine(kind, name, value, f"{where} is not UTF-8")
    # An extra behind the value (`module:attribute [extra]`) is an old form that says nothing.
    module, colon, attribute = (part.strip() for part in value.partition("[")[0].partition(":"))
    if not (equals and name and _is_dotted(module)) or (colon and not _is_dotted(attribute)):
        return EntryLine(kind, name or line, value, f"{where} is not `name = module:attribute`")
    return EntryLine(kind, name, f"{module}{colon}{attribute}")


def _is_dotted(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))
