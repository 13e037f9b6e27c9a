"""Reads Go test files far enough to know their tests."""

from __future__ import annotations

import re

_PIECE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|`[^`]*`|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.DOTALL
)
_TEST = re.compile(
    r"^func\s+((?:Test|Fuzz)(?:[^a-z\W]\w*)?)\s*\(\s*\w+\s+\*testing\.[TF]\s*\)\s*\{",
    re.MULTILINE,
)


def test_names(source: str) -> list[str]:
    """The functions that `go test` runs, examples left out.

    Example:
        >>> test_names("func TestA(t *testing.T) { f() }\\nfunc Testing() {}\\n")
        ['TestA']
    """
    # Comments, strings and runes hold none.
    return _TEST.findall(_PIECE.sub("", source))
