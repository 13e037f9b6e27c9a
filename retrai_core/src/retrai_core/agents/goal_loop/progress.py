"""Detects a run without progress: repeated turns, or alternation between two trees."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import NotRequired, TypedDict

SAME_TURN_LIMIT = 3
"""The same calls with the same results, with nothing changed between. Once more is no circle: what
was read long ago has left the model's window."""

SEEN_LIMIT = 200
"""Different turns that are remembered: a longer circle is left to the budgets."""

ALTERNATIONS_LIMIT = 6
"""Changes of the tree that only go back and forth between two states."""

GRACE = 3
"""Evaluations after the warning before the run ends: the last chance."""

# What differs from one run of a command to the next and tells nothing.
_PASSING = re.compile(
    r"0x[0-9a-f]+"  # an address in memory
    r"|\b\d+(?:[.,]\d+)?\s*(?:[mµun]?s|min|sec(?:ond)?s?|minutes?|milliseconds?)\b"
    r"|\b\d+m\d+(?:[.,]\d+)?s\b"  # `0m0.12s`, as `time` has it
    r"|\b\d{4}-\d\d-\d\d(?=[T ]\d\d:)|\d\d:\d\d:\d\d(?:[.,]\d+)?"  # a date with its time of day
    r"|(?<![\w.])(?:/private)?(?:/var)?/tmp/[^\s\"':]+|\bpytest-\d+\b|\btmp[a-z0-9_]{6,10}\b"
    r"|\b(?:pid|process)\b[\s=:#]*\d+",
    re.IGNORECASE,
)


class Progress(TypedDict):
    """The progress of a run; kept small, since every checkpoint contains it.

    `tree` is a hash of the latest tree and `trees` holds the latest different ones. `seen` counts,
    by digest, the turns since the last change of the tree, the latest last; `repeats` is the number
    of turns in a row with nothing new. `warned_at` is the iteration of the warning, -1 before it;
    `warned_tokens` is what the run had used by then. Checkpoints of earlier versions lack some.
    """

    tree: str
    trees: list[str]
    warned_at: int
    seen: NotRequired[dict[str, int]]
    repeats: NotRequired[int]
    warned_tokens: NotRequired[int]


def fresh_progress() -> Progress:
    """The progress of a run that has made no turn yet."""
    return Progress(tree="", trees=[], warned_at=-1)


def turn_digest(told: Iterable[tuple[str, object, str]]) -> str:
    """A digest of one turn, to know it again; empty when there was no call.

    Args:
        told: for each call its name, its arguments and its result. Durations, times, addresses and
            names of temporary files may differ in the result; an argument may not.

    Example:
        >>> first = turn_digest([("run_pytest", {}, "1 failed in 0.12s")])
        >>> first == turn_digest([("run_pytest", {}, "1 failed in 0.31s")])
        True
        >>> first == turn_digest([("run_pytest", {}, "2 failed in 0.12s")])
        False
    """
    calls = [(name, args, _PASSING.sub("~", result)) for name, args, result in told]
    return hashlib.sha256(repr(calls).encode()).hexdigest()[:16] if calls else ""


def advance(progress: Progress, tree: str, turn: str) -> Progress:
    """The progress after one more turn.

    Args:
        progress: before it.
        tree: a hash of the tree as it stands after the turn.
        turn: what `turn_digest` gave for it.
    """
    moved = tree != progress["tree"]
    seen = {} if moved else dict(progress.get("seen", {}))
    repeats = 0 if moved else progress.get("repeats", 0)
    if turn:
        times = seen.pop(turn, 0) + 1
        seen[turn] = times
        repeats = repeats + 1 if times >= SAME_TURN_LIMIT else 0
    trees = [*progress["trees"], tree] if moved else progress["trees"]
    advanced = Progress(
        tree=tree,
        trees=trees[-ALTERNATIONS_LIMIT:],
        seen=dict(list(seen.items())[-SEEN_LIMIT:]),
        repeats=repeats,
        warned_at=progress["warned_at"],
        warned_tokens=progress.get("warned_tokens", 0),
    )
    if not trouble(advanced):
        advanced["warned_at"] = -1  # something new is what the warning asked for
    return advanced


def tokens_saved(progress: Progress, iteration: int, limit: int, tokens: int) -> int:
    """About how many tokens the rest of the iterations would have used.

    Args:
        progress: with the warning in it; the rate is the one since.
        iteration: the last one that was made.
        limit: how many there might have been.
        tokens: what the run has used.
    """
    made = max(1, iteration - progress["warned_at"])
    spent = tokens - progress.get("warned_tokens", tokens)
    return round(spent / made * max(0, limit - iteration))


def trouble(progress: Progress) -> str:
    """Why the run counts as stuck, in words for the model; empty when it does not."""
    if progress.get("repeats", 0):
        times = list(progress.get("seen", {}).values())[-1]
        return f"the same calls gave the same results {times} times"
    trees = progress["trees"]
    if len(trees) == ALTERNATIONS_LIMIT and len(set(trees)) == 2:
        return "the project goes back and forth between the same two states"
    return ""
