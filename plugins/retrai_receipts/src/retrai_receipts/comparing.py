"""What differs between a receipt and what is there now, in lines for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from retrai_core import CaseOutcome, Verdict

from .receipt import Receipt

SHOWN = 10
"""How many files or cases a difference names."""


def other_tree(receipt: Receipt, files: Mapping[str, str]) -> str:
    """That the tree with these files is not the receipt's, and which files differ."""
    trees = receipt.trees
    if trees.files is None:
        there = f"{len(files)} files here, {trees.file_count} in the receipt"
        return f"the tree is another one ({there}; too many to name those that differ)"
    paths = sorted(trees.files.keys() | files.keys())
    differing = [path for path in paths if trees.files.get(path) != files.get(path)]
    missing = sum(path not in files for path in differing)
    new = sum(path not in trees.files for path in differing)
    more = f" and {len(differing) - SHOWN} more" if len(differing) > SHOWN else ""
    changed = len(differing) - missing - new
    kinds = ((changed, "changed"), (missing, "missing"), (new, "new"))
    counts = ", ".join(f"{number} {kind}" for number, kind in kinds if number)
    return f"the tree is another one ({counts}): {', '.join(differing[:SHOWN])}{more}"


def other_cases(receipt: Receipt, verdict: Verdict) -> list[str]:
    """Cases that do not end as the receipt says; ids of parametrised ones may change."""
    expected = receipt.after
    now: dict[str, CaseOutcome] = dict(verdict.cases)
    if receipt.held_out.globs:  # they are back in the project, and have passed if the check passes
        now = {case: outcome for case, outcome in now.items() if case in expected}
    if now == expected or _by_function(now) == _by_function(expected):
        return []
    if not now and not verdict.achieved:
        return []  # that the check fails is a problem by itself
    differing = [
        f"{case} is {now.get(case, 'gone')} (receipt: {expected.get(case, 'not there')})"
        for case in sorted(now.keys() | expected.keys())
        if now.get(case) != expected.get(case)
    ]
    more = f", and {len(differing) - SHOWN} more" if len(differing) > SHOWN else ""
    what = "1 case differs" if len(differing) == 1 else f"{len(differing)} cases differ"
    return [f"{what}: {', '.join(differing[:SHOWN])}{more}"]


def _by_function(cases: Mapping[str, CaseOutcome]) -> Counter[tuple[str, CaseOutcome]]:
    """How many cases of each function, parameters aside, have each outcome."""
    return Counter((case.split("[", 1)[0], outcome) for case, outcome in cases.items())
