"""Reading `entry_points.txt`, keeping what is malformed as an entry that says so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .record import KIND_OF, Kind

_VALUE = re.compile(r"(\w+(?:\.\w+)*)\s*(?::\s*(\w+(?:\.\w+)*)\s*)?(?:\[.*\])?")
_NOT_UTF8 = "\ufffd"


@dataclass(frozen=True, slots=True)
class EntryLine:
    """One entry point of a retrai group; `problem` is empty when it can be used."""

    kind: Kind
    name: str
    value: str
    problem: str = ""

    @property
    def module(self) -> str:
        """The module that the entry point names."""
        return self.value.partition(":")[0]


def parse_entry_points(raw: bytes) -> Iterator[EntryLine]:
    """The entry points of retrai's groups, in the order of the file.

    Names may hold spaces and any letters; a line that is not `name = module:attribute` in UTF-8
    gives an entry with a `problem`, so that one bad line hides no other.
    """
    kind: Kind | None = None
    for number, text in enumerate(raw.decode("utf-8", "replace").splitlines(), 1):
        line = text.strip()
        if not line or line.startswith(("#", ";")):
            continue
        if line.startswith("["):
            kind = KIND_OF.get(line.strip("[]").strip())
        elif kind is not None:
            yield _entry(kind, line, f"entry_points.txt line {number}")


def _entry(kind: Kind, line: str, where: str) -> EntryLine:
    name, equals, value = (part.strip() for part in line.partition("="))
    if _NOT_UTF8 in line:
        return EntryLine(kind, name, value, f"{where} is not UTF-8")
    match = _VALUE.fullmatch(value)
    if not equals or not name or match is None:
        return EntryLine(kind, name or line, value, f"{where} is not `name = module:attribute`")
    module, attribute = match.groups()
    return EntryLine(kind, name, f"{module}:{attribute}" if attribute else module)
