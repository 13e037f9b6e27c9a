"""A whole repair: one round after the other, each step confirmed in a fresh collection."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

from .bench import Bench
from .budget import Budget
from .candidate import Candidate, apply_edits, by_file
from .groups import GroupSearch
from .project import Project
from .snippets import snippets

DONE, NO_TESTS, OUT_OF_BUDGET, NOTHING_FOUND, ERRORS = (
    "done",
    "no-tests",
    "out-of-budget",
    "nothing-found",
    "collection-errors",
)
MAX_REFUTED = 4


class Repair:
    """Fixes a project in memory; nothing is written to its files.

    Each step is an edit that turns failing tests green and breaks none; the next round starts
    from the texts as they are then, and its first collection confirms the step before it.
    """

    def __init__(
        self, project: Project, arguments: Sequence[str], budget: Budget, state: Dict[str, Any]
    ) -> None:
        self.project = project
        self.arguments = list(arguments)
        self.budget = budget
        self.state = state
        self.refused: Set[str] = set(state.get("refused", []))
        self.texts: Dict[str, str] = {}
        self.steps: List[Dict[str, Any]] = []
        self.rounds: List[Dict[str, Any]] = []
        self.answer: Dict[str, Any] = {"problem": "", "state": {}}
        self._expected: Optional[Set[str]] = None
        self._before: List[Tuple[Dict[str, str], Dict[str, Any]]] = []
        self._hung: Optional[Set[str]] = None
        self._refuted = 0

    def run(self) -> Dict[str, Any]:
        """Search until every test passes, nothing more is found, or the budget is used up."""
        end: Optional[str] = None
        while end is None:
            bench = Bench(self.project, self.arguments, self.texts, self.budget)
            try:
                end = self._round(bench)
            finally:
                bench.close()
        self.answer["state"]["refused"] = sorted(self.refused)
        self.answer.update(
            end=end,
            steps=self.steps,
            rounds=self.rounds,
            cpu_s=round(self.budget.used_cpu_s, 2),
            tried=self.budget.tried,
        )
        return self.answer

    def _round(self, bench: Bench) -> Optional[str]:
        """One round; returns why the repair ends, or None to go on."""
        nodes = bench.session.nodes
        with self.budget.looking():
            bench.take_outcomes(self._hung)
        failing = {nodes[test] for test in bench.failing}
        if self._expected is not None and failing - self._expected:
            return self._refute()
        self.answer["failing"] = sorted(failing)
        self.answer["tests"] = len(nodes)
        self.answer["errors"] = bench.session.errors
        if not nodes:
            self.answer["problem"] = bench.session.usage
            return ERRORS if bench.session.errors else NO_TESTS
        if not failing:
            return ERRORS if bench.session.errors else DONE
        if self.budget.left_s() <= 0:
            return OUT_OF_BUDGET
        with self.budget.looking():
            bench.calibrate()
            bench.trace(self.state.get("in_vain", {}))
        return self._search(bench, failing)

    def _refute(self) -> Optional[str]:
        """Take back the last step: imported anew, it does not do what it did when swapped in."""
        step = self.steps[-1]
        # The search begins anew: what it had tried by then may hold the repair that is right.
        self.texts, self.state = self._before.pop()
        self.rounds[-1]["found"] = False
        while self.steps and self.steps[-1]["key"] == step["key"]:
            self.steps.pop()
        self.refused.add(step["key"])
        self._expected = self._hung = None
        self._refuted += 1
        return NOTHING_FOUND if self._refuted > MAX_REFUTED else None

    def _search(self, bench: Bench, failing: Set[str]) -> Optional[str]:
        before = self.state
        search = GroupSearch(bench, before, self.refused)
        best = search.run()
        self.state = self.answer["state"] = search.to_go_on_with()
        self.rounds.extend(search.report())
        if best is None:
            cut_off = search.cut_off or self.budget.left_s() <= 0
            return OUT_OF_BUDGET if cut_off else NOTHING_FOUND
        self.rounds[-1]["found"] = True
        fixed = [bench.session.nodes[test] for test in sorted(best.fixed)]
        self._before.append((dict(self.texts), before))
        self._accept(bench, best.candidate, fixed)
        self._expected = failing - set(fixed)
        self._hung = bench.hanging & self._expected
        return None

    def _accept(self, bench: Bench, candidate: Candidate, fixed: Sequence[str]) -> None:
        for path, edits in by_file(candidate.edits).items():
            source = bench.source(path)
            if source is None:
                continue
            changed = apply_edits(source.text, edits)
            unit = source.unit_at(source.line_of(edits[0].start))
            self.steps.append(
                {
                    "path": self.project.relative(path),
                    "line": source.line_of(edits[0].start),
                    "lines": sorted({source.line_of(edit.start) for edit in edits}),
                    "function": unit.name if unit is not None else "",
                    "kind": candidate.kind,
                    "cost": round(candidate.cost, 2),
                    "patches": _patches(source.text, changed),
                    "key": candidate.key,
                    "fixed": list(fixed),
                }
            )
            self.texts[path] = changed


def _patches(before: str, after: str) -> List[List[str]]:
    """The change as snippets with plain line ends: whoever patches keeps those of the file."""
    plain = [text.replace("\r\n", "\n") for text in (before, after)]
    return [list(snippet) for snippet in snippets(*plain)]
