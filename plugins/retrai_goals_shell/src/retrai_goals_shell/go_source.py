"""Reads Go test files far enough to know their tests and where those begin and end."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .brackets import matching

_PIECE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|`[^`]*`|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.DOTALL
)
_TEST = re.compile(
    r"^func\s+(?P<name>(?:Test|Fuzz)(?:[^a-z\W]\w*)?)\s*\(\s*\w+\s+\*testing\.[TF]\s*\)\s*\{",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class TestFunction:
    """A test of a file: its name, and the places of the `{` and the `}` of its body."""

    name: str
    start: int
    end: int


def blank(source: str) -> str:
    """The source with comments, strings and runes replaced by blanks, place by place."""
    return _PIECE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def test_functions(source: str) -> list[TestFunction]:
    """The functions that `go test` runs, examples left out.

    Example:
        >>> found = test_functions("func TestA(t *testing.T) { f() }\\nfunc Testing() {}\\n")
        >>> [function.name for function in found]
        ['TestA']
    """
    masked = blank(source)
    return [
        TestFunction(found["name"], found.end() - 1, matching(masked, found.end() - 1) - 1)
        for found in _TEST.finditer(masked)
    ]
