"""Telling a run that goes round in circles: the same tree, the same call, or two trees in turn."""

from __future__ import annotations

from typing import NotRequired, TypedDict

SAME_TREE_LIMIT = 40
"""Evaluations of one unchanged tree. Finding one's way takes long: the recorded run on marshmallow
makes more than thirty calls in a row that change no source."""

SAME_CALL_LIMIT = 3
"""The same call with the same result, with nothing changed between."""

ALTERNATIONS_LIMIT = 6
"""Changes of the tree that only go back and forth between two states."""

GRACE = 3
"""Evaluations after the warning before the run ends: the last chance."""


class Progress(TypedDict):
    """How the run has moved; small, since it stands in every checkpoint.

    `tree` and `calls` are hashes of the latest tree and of the latest turn's calls with their
    results, `same_tree` and `same_calls` count how often they came in a row, `trees` holds the
    latest different trees, and `warned_at` is the iteration of the warning, -1 before it;
    `warned_tokens` is what the run had used by then.
    """

    tree: str
    same_tree: int
    calls: str
    same_calls: int
    trees: list[str]
    warned_at: int
    warned_tokens: NotRequired[int]


def fresh_progress() -> Progress:
    """The progress of a run that has made no turn yet."""
    return Progress(tree="", same_tree=0, calls="", same_calls=0, trees=[], warned_at=-1)


def advance(progress: Progress, tree: str, calls: str) -> Progress:
    """The progress after one more turn.

    Args:
        progress: before it.
        tree: a hash of the tree as it stands after the turn.
        calls: a hash of the turn's calls and results; empty when there was no call.
    """
    moved = tree != progress["tree"]
    repeated = not moved and calls != "" and calls == progress["calls"]
    trees = [*progress["trees"], tree] if moved else progress["trees"]
    return Progress(
        tree=tree,
        same_tree=1 if moved else progress["same_tree"] + 1,
        calls=calls,
        same_calls=progress["same_calls"] + 1 if repeated else 1,
        trees=trees[-ALTERNATIONS_LIMIT:],
        # Moving on to a tree that was not there before is what the warning asked for.
        warned_at=-1 if moved and tree not in progress["trees"] else progress["warned_at"],
        warned_tokens=progress.get("warned_tokens", 0),
    )


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
    if progress["calls"] and progress["same_calls"] >= SAME_CALL_LIMIT:
        return f"the same call gave the same result {progress['same_calls']} times"
    if progress["same_tree"] >= SAME_TREE_LIMIT:
        return f"nothing has changed for {progress['same_tree']} turns"
    trees = progress["trees"]
    if len(trees) == ALTERNATIONS_LIMIT and len(set(trees)) == 2:
        return "the project goes back and forth between the same two states"
    return ""
