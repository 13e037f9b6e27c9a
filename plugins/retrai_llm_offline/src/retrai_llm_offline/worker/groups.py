"""One search for each group of failing tests, so that none uses up the time of the others."""

from __future__ import annotations

import hashlib
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set

from .bench import Bench, Detail
from .candidate import Candidate, Edit
from .search import Round
from .source import read_text

LEAST_SHARE_S = 2.0


class GroupSearch:
    """Looks in every group of failing tests for one edit before it looks in any for several.

    Args:
        bench: the project as it is now, its tests run and traced.
        state: what `to_go_on_with` gave after the search before this one; empty at first.
        refused: keys of the edits that must not be found again.

    Attributes:
        cut_off: whether time ran out before some group was searched to its end.
    """

    def __init__(self, bench: Bench, state: Mapping[str, Any], refused: Set[str]) -> None:
        self.bench = bench
        self.refused = refused
        self.cut_off = False
        self._fingerprint = _fingerprint(bench)
        self._in_vain: Dict[str, float] = dict(state.get("in_vain", {}))
        same = state.get("fingerprint") == self._fingerprint
        self._known: Dict[str, Dict[str, Any]] = state.get("groups", {}) if same else {}
        self._rounds: Dict[str, Round] = {}

    def run(self) -> Optional[Detail]:
        """The first repair of a group; None if there is none yet."""
        groups = sorted(self.bench.spectra.groups(self.bench.failing), key=self._spent)
        if len(groups) > 1:
            best = self._first(groups, Round.look)
            if best is not None:
                return best
        return self._first(groups, Round.run)

    def to_go_on_with(self) -> Dict[str, Any]:
        """How far each group was searched, as plain data for a later search."""
        groups = {
            key: {
                "position": search.position,
                "partial": [list(candidate) for candidate in search.to_go_on_with()],
            }
            for key, search in self._rounds.items()
        }
        return {
            "fingerprint": self._fingerprint,
            "groups": {**self._known, **groups},
            "in_vain": self._in_vain,
        }

    def report(self) -> List[Dict[str, Any]]:
        """What was looked at, one entry for each group; the one searched last comes last."""
        return [search.report() for search in self._rounds.values()]

    def _first(
        self, groups: Sequence[List[int]], search: Callable[[Round], Optional[Detail]]
    ) -> Optional[Detail]:
        """Search group after group, each with its share of the time that is left."""
        budget = self.bench.budget
        self.cut_off = False
        for number, group in enumerate(groups):
            if budget.left_s() <= 0:
                self.cut_off = True
                return None
            began = budget.used_cpu_s
            with budget.at_most(max(LEAST_SHARE_S, budget.left_s() / (len(groups) - number))):
                best = search(self._round(group))
                self.cut_off = self.cut_off or budget.left_s() <= 0
            if best is not None:
                return best
            for node in self._nodes(group):
                spent = self._in_vain.get(node, 0.0) + budget.used_cpu_s - began
                self._in_vain[node] = round(spent, 2)
        return None

    def _round(self, group: Sequence[int]) -> Round:
        key = hashlib.sha256("\n".join(self._nodes(group)).encode("utf-8")).hexdigest()[:16]
        search = self._rounds.pop(key, None)
        if search is None:
            kept = self._known.get(key, {})
            partial = [_candidate(each) for each in kept.get("partial", [])]
            search = Round(self.bench, group, kept.get("position", 0), self.refused, partial)
        self._rounds[key] = search
        return search

    def _nodes(self, group: Sequence[int]) -> List[str]:
        return [self.bench.session.nodes[test] for test in group]

    def _spent(self, group: Sequence[int]) -> float:
        return max(self._in_vain.get(node, 0.0) for node in self._nodes(group))


def _candidate(kept: List[Any]) -> Candidate:
    """A candidate as a search before this one left it in its state."""
    edits, kind, line, cost, suspicion = kept
    return Candidate(tuple(Edit(*edit) for edit in edits), kind, line, cost, suspicion)


def _fingerprint(bench: Bench) -> str:
    """The same as long as the code that the traced tests run is the same."""
    digest = hashlib.sha256()
    known = bench.spectra.of_test.values()
    for path in sorted({place[0] for places in known for place in places}):
        digest.update(path.encode("utf-8"))
        try:
            digest.update((bench.texts.get(path) or read_text(path)).encode("utf-8"))
        except OSError:
            continue
    return digest.hexdigest()
