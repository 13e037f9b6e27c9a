"""Changes what Go tests expect: a project that gives real answers must fail them then.

Two forms are known: `if ... != LITERAL {` with `t.Error` or `t.Fatal` in it, in the body of a test
itself, and the field `want: LITERAL` of a table whose rows are compared with `!= row.want`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from .brackets import matching, past
from .edits import Edit, edited, read_editable
from .go_source import TestFunction, blank, test_functions
from .literals import LITERAL, contradiction_of

_LITERAL = rf"(?P<literal>{LITERAL}|`[^`]*`)"
_IF = re.compile(rf"if\s+[^{{\n]*!=\s*{_LITERAL}\s*\{{")
_FIELD = re.compile(rf"\b(?P<field>want|expected|exp)\w*:\s*{_LITERAL}\s*[,}}]")
_COMPARED = re.compile(r"!=\s*\w+\.(?:want|expected|exp)\w*\b")
_FAILS = re.compile(r"\bt\.(?:Error|Fatal)f?\(")
_LEAVES = re.compile(r"\breturn\b|\bt\.Skip|\bcontinue\b")
_UNSURE = re.compile(r"err|panic|skip|approx|round|delta|epsilon|math\.|&&|\|\|", re.IGNORECASE)


def contradict_go_tests(folder: Path, cases: Iterable[str], limit: int) -> list[str]:
    """Change one expectation in each of the tests; the cases in which one was found.

    Args:
        folder: where go runs; its files are changed.
        cases: ids (`cart/cart_test.go::TestTotal`), the first ones first; subtests are left out.
        limit: how many to change at most.
    """
    by_file: dict[str, list[str]] = {}
    for case in cases:
        path, _, name = case.partition("::")
        if path.endswith("_test.go") and "/" not in name:
            by_file.setdefault(path, []).append(name)
    tried: list[str] = []
    for path, names in by_file.items():
        if len(tried) < limit:
            changed = _contradict_file(folder / path, names[: limit - len(tried)])
            tried += [f"{path}::{name}" for name in changed]
    return tried


def _contradict_file(path: Path, names: list[str]) -> list[str]:
    source = read_editable(path)
    if source is None:
        return []
    masked = blank(source)
    found: dict[str, Edit] = {}
    for function in test_functions(source):
        if function.name in names:
            edit = _comparison(source, masked, function) or _table(source, masked, function)
            if edit is not None:
                found[function.name] = edit
    path.write_text(edited(source, found.values()), "utf-8")
    return list(found)


def _comparison(source: str, masked: str, function: TestFunction) -> Edit | None:
    """The literal of the first exact comparison that is reached whenever the test passes."""
    at = function.start + 1
    while at < function.end:
        if masked.startswith("if", at) and not masked[at - 1].isalnum():
            found = _IF.match(source, at)
            brace = masked.find("{", at)
            close = matching(masked, brace)
            if found and found.end() - 1 == brace and _FAILS.search(masked, brace, close):
                edit = _edit(found)
                if edit is not None and not _UNSURE.search(found[0]):
                    return edit
            if _LEAVES.search(masked, brace, close) and not _FAILS.search(masked, brace, close):
                return None
            at = close
        else:
            after = past(masked, at, _LEAVES)
            if after is None:
                return None
            at = after
    return None


def _table(source: str, masked: str, function: TestFunction) -> Edit | None:
    """The expectation of the first plain row of a table that is compared row by row."""
    body = source[function.start : function.end]
    if not _COMPARED.search(masked, function.start, function.end) or _LEAVES.search(
        masked, function.start, function.end
    ):
        return None
    for found in _FIELD.finditer(body):
        line_start = body.rfind("\n", 0, found.start()) + 1
        line = body[line_start : body.find("\n", found.end())]
        if not _UNSURE.search(line) and (edit := _edit(found)) is not None:
            start, end, text = edit
            return function.start + start, function.start + end, text
    return None


def _edit(found: re.Match[str]) -> Edit | None:
    other = contradiction_of(found["literal"])
    return None if other is None else (found.start("literal"), found.end("literal"), other)
