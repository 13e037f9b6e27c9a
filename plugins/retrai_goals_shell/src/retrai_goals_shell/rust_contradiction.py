"""Changes what Rust tests expect: a project that gives real answers must fail them then.

Only `assert_eq!` with one literal is changed, where it stands in the body of a test function itself
and is reached whenever the test passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from .brackets import OPEN, matching, past
from .edits import Edit, edited, read_editable
from .inline_tests import source_files
from .literals import LITERAL, contradiction_of
from .rust_source import Item, blank, items

_ASSERT = re.compile(r"\bassert_eq!\s*\(")
_LEAVES = re.compile(r"\breturn\b")
_INSENSITIVE = re.compile(r"approx|round|epsilon|any|abs\(", re.IGNORECASE)
_DODGES = re.compile(r"should_panic|ignore|cfg(?!\s*\(\s*test\s*\))")
_EXACT = re.compile(LITERAL)


def contradict_rust_tests(folder: Path, cases: Iterable[str], limit: int) -> list[str]:
    """Change one expectation in each of the tests; the cases in which one was found.

    Args:
        folder: where cargo runs; its files are changed.
        cases: ids (`src/lib.rs::tests::adds`), the first ones first.
        limit: how many to change at most.
    """
    functions = _test_functions(folder)
    tried: list[str] = []
    edits: dict[Path, list[Edit]] = {}
    for case in cases:
        if len(tried) >= limit:
            break
        found = functions.get(case.rpartition("::")[2], [])
        if len(found) != 1 or " documentation::" in case:
            continue  # which of two functions of that name it is cannot be said
        path, source, item = found[0]
        edit = _expectation(source, item)
        if edit is not None:
            edits.setdefault(path, []).append(edit)
            tried.append(case)
    for path, changes in edits.items():
        path.write_text(edited(path.read_text("utf-8"), changes), "utf-8")
    return tried


def _test_functions(folder: Path) -> dict[str, list[tuple[Path, str, Item]]]:
    found: dict[str, list[tuple[Path, str, Item]]] = {}
    for path in source_files(folder):
        source = read_editable(path)
        if source is None:
            continue
        for item in items(source):
            if item.is_test:
                name = item.path.rpartition("::")[2]
                found.setdefault(name, []).append((path, source, item))
    return found


def _expectation(source: str, item: Item) -> Edit | None:
    """The literal of the first exact assertion that is reached whenever the test passes."""
    if item.body < 0 or _DODGES.search(item.attributes):
        return None
    masked = blank(source)
    at, end = item.body + 1, item.end - 1
    while at < end:
        if found := _ASSERT.match(masked, at):
            close = matching(masked, found.end() - 1)
            edit = _literal(source, masked, found.end(), close - 1)
            if edit is not None:
                return edit
            at = close
        else:
            after = past(masked, at, _LEAVES)
            if after is None:
                return None
            at = after
    return None


def _literal(source: str, masked: str, start: int, end: int) -> Edit | None:
    places = [start]
    at = start
    while at < end:
        if masked[at] in OPEN:
            at = matching(masked, at)
            continue
        if masked[at] == ",":
            places.append(at + 1)
        at += 1
    if len(places) < 2:
        return None
    stops = [*(place - 1 for place in places[1:]), end]
    sides = list(zip(places, stops, strict=True))[:2]
    texts = [source[a:b].strip() for a, b in sides]
    literals = [number for number, text in enumerate(texts) if _EXACT.fullmatch(text)]
    if len(literals) != 1 or any(_INSENSITIVE.search(text) for text in texts):
        return None
    a, b = sides[literals[0]]
    other = contradiction_of(texts[literals[0]])
    if other is None:
        return None
    first = a + len(source[a:b]) - len(source[a:b].lstrip())
    return first, first + len(texts[literals[0]]), other
