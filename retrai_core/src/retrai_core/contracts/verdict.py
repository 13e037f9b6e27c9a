"""The verdict of a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .goal import CaseOutcome


@dataclass(frozen=True)
class Verdict:
    """The result of `RunManager.check`, and the argument of the hook `artifacts`.

    Attributes:
        achieved: the goal passes, and nothing speaks against believing it.
        reason: one line for people.
        counts: how many cases had each outcome.
        cases: the outcome of each case, by name.
        suspicions: why the verdict is not believed although every case passes.
        evidence: by layer, JSON values: `check` (what was run), `details` (what it said, for a
            model), `clean_copy` (the final verification; where one was made), `baseline` (what
            another check is held against), `python` (the project's interpreter), `versions` (of the
            distributions that the check used). Of a run also: `record`, `events` (all of them so
            far), `tree` (`files`: as `tree_files` gives them, of the tree that was judged),
            `sandbox` (`state_within_reach`: the agent's commands could read the state folder).
    """

    achieved: bool
    reason: str
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    cases: Mapping[str, CaseOutcome] = field(default_factory=dict[str, CaseOutcome], repr=False)
    suspicions: Sequence[str] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
