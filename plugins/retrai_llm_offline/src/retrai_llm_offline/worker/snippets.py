"""A change of a file as replacements of text that stands there exactly once."""

from __future__ import annotations

import difflib
from typing import List, NamedTuple, Tuple

JOIN_WITHIN_LINES = 4


class Snippet(NamedTuple):
    """`old`, found exactly once in the text as it is then, becomes `new`."""

    old: str
    new: str


def snippets(before: str, after: str) -> List[Snippet]:
    """Replacements that, made one after the other, turn one text into the other.

    Each has whole lines, and as many lines of context as it needs to be unique.
    """
    found: List[Snippet] = []
    text = before
    while text != after:
        snippet = _first(text, after)
        found.append(snippet)
        text = text.replace(snippet.old, snippet.new, 1)
    return found


def _first(text: str, after: str) -> Snippet:
    old, new = text.splitlines(True), after.splitlines(True)
    low, high, new_low, new_high = _first_hunk(old, new)
    context = 0
    while True:
        top, bottom = max(0, low - context), min(len(old), high + context)
        chosen = "".join(old[top:bottom])
        if (chosen.strip() and text.count(chosen) == 1) or (top == 0 and bottom == len(old)):
            head, tail = "".join(old[top:low]), "".join(old[high:bottom])
            return Snippet(chosen, head + "".join(new[new_low:new_high]) + tail)
        context += 1


def _first_hunk(old: List[str], new: List[str]) -> Tuple[int, int, int, int]:
    """The first changed lines, with changes close below them: from and to in both texts."""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    _, low, high, new_low, new_high = changes[0]
    for _, start, end, _, new_end in changes[1:]:
        if start - high > JOIN_WITHIN_LINES:
            break
        high, new_high = end, new_end
    return low, high, new_low, new_high
