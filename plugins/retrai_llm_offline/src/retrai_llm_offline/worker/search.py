"""The search: from suspicious lines over single edits and pairs to a fixed project."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Tuple

from .bench import Bench, Detail
from .candidate import Candidate, combine, compatible
from .generate import FAR_COST, SUSPICION_WEIGHT, Suspicion, candidates
from .hotswap import inside_functions
from .pairs import likely_pairs, pairs_with
from .ranking import add_constants, by_merit, functions_at
from .running import PASSED

CHUNK = 48
MAX_LINES = 160
GRACE_COST, GRACE_TRIES = 0.3, 240
PARTIAL_TRIES = 400
IMPORT_COST = 0.8
NEAR_TESTS = 60
PATTERN_TRIES = 80
SLOW_SHARE = 0.3
PROGRESS_SHARE, PROGRESS_COST = 0.4, 1.65
KEPT_PARTIAL = 12


class Round:
    """One round: the search for what fixes a group of failing tests that share code."""

    def __init__(
        self,
        bench: Bench,
        group: Sequence[int],
        skip: int,
        refused: Set[str],
        known: Sequence[Candidate] = (),
    ) -> None:
        self.bench = bench
        self.refused = refused
        self.group = list(group)
        self.targets = bench.in_turn(bench.spectra.targets(self.group, 3))
        self.suspicion = bench.spectra.suspicion(self.group, bench.passing)
        self.plausible: List[Detail] = []
        self.partial: List[Detail] = []
        self.mixed: List[Detail] = []
        self.slow: List[Candidate] = []
        self.patterns: Dict[str, int] = {}
        self._lines = self._suspects()
        self.singles = self._candidates(far=False)
        self._far = False
        if skip >= self._plain_count():
            self._add_far()
        self.position = min(skip, len(self.singles))
        self._near = self._near_tests()
        self.paired = 0
        for candidate in known:
            if candidate.key not in self.refused:
                self._examine(candidate)

    def _suspects(self) -> Dict[str, Dict[int, float]]:
        ranked = sorted(self.suspicion.items(), key=lambda item: -item[1])[:MAX_LINES]
        lines: Dict[str, Dict[int, float]] = {}
        for (path, line), score in ranked:
            lines.setdefault(path, {})[line] = score
        for path, scores in lines.items():
            source = self.bench.source(path)
            if source is not None:
                add_constants(source, scores, max(scores.values()) * 0.6)
        return lines

    def _candidates(self, far: bool) -> List[Candidate]:
        found: List[Candidate] = []
        for path, scores in self._lines.items():
            source = self.bench.source(path)
            if source is None:
                continue
            for candidate in candidates(source, Suspicion(scores), far):
                if candidate.key in self.refused:
                    continue
                inside = inside_functions(source, candidate.edits)
                extra = 0.0 if inside else IMPORT_COST
                found.append(candidate._replace(cost=candidate.cost + extra))
        return sorted(found, key=lambda item: round(item.cost, 3))

    def _plain_count(self) -> int:
        return sum(1 for single in self.singles if single.cost <= FAR_COST)

    def _add_far(self) -> None:
        """Bring in the candidates from far, in their place among those that are left."""
        if not self._far:
            self._far = True
            count = self._plain_count()
            rest = self.singles[count:] + self._candidates(far=True)
            self.singles[count:] = sorted(rest, key=lambda item: round(item.cost, 3))

    def _near_tests(self) -> List[int]:
        places = {place for place, score in self.suspicion.items() if score > 0.3}
        known = self.bench.spectra.of_test
        near = [t for t in self.bench.passing if known.get(t, set()) & places]
        return sorted(near, key=lambda t: self.bench.seconds.get(t, 0.0))[:NEAR_TESTS]

    def look(self) -> Optional[Detail]:
        """The best single edit, checked with the whole suite; None if there is none so far."""
        self._singles(self._progress)
        return self._best() or self._best_of(self._strong())

    def run(self) -> Optional[Detail]:
        """The best candidate of this round, checked with the whole suite; None if there is none.

        Where no single edit is enough it goes on with pairs of them, which can take all the time.
        """
        self._singles(self._progress)
        best = self._best()
        if best is None and self._progress() and not self._strong():
            firsts = by_merit(self.bench, self._progress())
            self._pairs(pairs_with(firsts, self.singles))
            if not self.plausible:
                self._singles()
            best = self._best()
        if best is None and not self._strong():
            self._pairs(likely_pairs(self.partial, self.mixed, self.singles))
            best = self._best()
        if best is None:
            self._retry_slow()
            best = self._best()
        if best is None:
            best = self._best_of(self._strong() or self._progress())
        if best is None and self.position >= len(self.singles):
            best = self._best_of(self._plain_partial())
        return best

    def report(self) -> Dict[str, Any]:
        """What this round looked at."""
        suspects = sorted(self.suspicion.items(), key=lambda item: (-item[1], item[0]))[:5]
        relative = self.bench.project.relative
        return {
            "group": len(self.group),
            "singles": self.position,
            "of_singles": len(self.singles),
            "pairs": self.paired,
            "plausible": [found.candidate.kind for found in self.plausible][:20],
            "partial": len(self.partial),
            "suspects": [[relative(path), line] for (path, line), _ in suspects],
        }

    def to_go_on_with(self) -> List[Candidate]:
        """The best partial repairs, for a later search that starts where this one stopped."""
        return [found.candidate for found in by_merit(self.bench, self.partial)[:KEPT_PARTIAL]]

    def _singles(self, progress: Callable[[], List[Detail]] = list) -> None:
        """Try single edits; where `progress` names some, stop after a while to build on them."""
        first_plausible = first_partial = first_progress = -1
        floor = (1 - PROGRESS_SHARE) * self.bench.budget.left_s()
        plain = self._plain_count()
        while self.bench.budget.left_s() > 0:
            if self.position >= plain:
                self._add_far()
            if self.position >= len(self.singles):
                return
            end = self.position + CHUNK if self._far else min(self.position + CHUNK, plain)
            chunk = self.singles[self.position : end]
            self.position += len(chunk)
            self._try(chunk)
            cost = chunk[-1].cost
            if self.plausible:
                if first_plausible < 0:
                    first_plausible = self.position
                least = min(found.candidate.cost for found in self.plausible)
                if cost > least + GRACE_COST or self.position - first_plausible > GRACE_TRIES:
                    return
            elif self._strong():
                if first_partial < 0:
                    first_partial = self.position
                least = min(found.candidate.cost for found in self._strong())
                tries = self.position - first_partial
                if tries > PARTIAL_TRIES or (
                    cost > least + GRACE_COST and tries > PARTIAL_TRIES // 3
                ):
                    return
            elif progress():
                first_progress = self.position if first_progress < 0 else first_progress
                late = self.bench.budget.left_s() < floor
                if late or self.position - first_progress > PARTIAL_TRIES:
                    return

    def _try(self, chunk: Sequence[Candidate]) -> None:
        letters = self.bench.try_all(chunk, self.targets)
        for candidate, outcome in zip(chunk, letters):
            if PASSED in outcome:
                self.patterns[outcome] = self.patterns.get(outcome, 0) + 1
                if set(outcome) == {PASSED} or self.patterns[outcome] <= PATTERN_TRIES:
                    self._examine(candidate)
            elif "t" in outcome:
                self.slow.append(candidate)

    def _examine(self, candidate: Candidate) -> None:
        found = self.bench.detail(candidate, self.group, self._near)
        if not found.fixed:
            return
        if found.broken:
            self.mixed.append(found)
        elif len(found.fixed) == len(self.group):
            self.plausible.append(found)
        else:
            self.partial.append(found)
            self._complete(found)

    def _complete(self, found: Detail) -> None:
        """Try a partial repair together with one elsewhere that fixes the rest."""
        for other in self.partial[-40:-1]:
            together = other.fixed | found.fixed
            if len(together) == len(self.group) and not other.fixed & found.fixed:
                if compatible(other.candidate, found.candidate) and len(self.plausible) < 8:
                    both = self.bench.detail(
                        combine(other.candidate, found.candidate), self.group, self._near
                    )
                    if len(both.fixed) == len(self.group) and not both.broken:
                        self.plausible.append(both)

    def _strong(self) -> List[Detail]:
        """Partial repairs that leave only tests which run code the fixed ones do not."""
        return [found for found in self.partial if self._independent(found)]

    def _plain_partial(self) -> List[Detail]:
        """Partial repairs by a plain edit: no constant returned, no special case for a test."""
        return [found for found in self.partial if self._is_plain(found.candidate)]

    def _is_plain(self, candidate: Candidate) -> bool:
        """Whether an edit is likely in itself, wherever it is."""
        extra = SUSPICION_WEIGHT * (1.0 - candidate.suspicion)
        source = self.bench.source(candidate.path)
        if source is not None and not inside_functions(source, candidate.edits):
            extra += IMPORT_COST
        return candidate.cost - extra <= PROGRESS_COST

    def _progress(self) -> List[Detail]:
        """Partial repairs that fix several tests and leave fewer: one bug of two in one place."""
        return [
            found
            for found in self._plain_partial()
            if len(found.fixed) > max(1, len(self.group) - len(found.fixed))
        ]

    def _independent(self, found: Detail) -> bool:
        known = self.bench.spectra.of_test
        covered: Set[Tuple[str, str]] = set()
        for test in found.fixed:
            covered |= functions_at(self.bench, known.get(test, set()))
        rest = [test for test in self.group if test not in found.fixed]
        return all(functions_at(self.bench, known.get(test, set())) - covered for test in rest)

    def _pairs(self, pairs: Iterator[Candidate]) -> None:
        chunk: List[Candidate] = []
        seen: Set[str] = set()
        for pair in pairs:
            if self.bench.budget.left_s() <= 0 or self.plausible:
                return
            if pair.key in seen or pair.key in self.refused:
                continue
            seen.add(pair.key)
            chunk.append(pair)
            if len(chunk) == CHUNK:
                self.paired += len(chunk)
                self._try(chunk)
                chunk = []
        self._try(chunk)

    def _retry_slow(self) -> None:
        """Give candidates that ran out of time ten times as much, once."""
        floor = (1 - SLOW_SHARE) * self.bench.budget.left_s()
        for candidate in self.slow[:30]:
            if self.bench.budget.left_s() <= floor or self.plausible:
                return
            patient_s = 10 * self.bench.limit_s
            letters = self.bench.try_all([candidate], self.targets, True, patient_s)[0]
            if PASSED in letters:
                found = self.bench.whole_suite(candidate, self.group)
                if set(self.group) <= found.fixed and not found.broken:
                    self.plausible.append(found)

    def _best(self) -> Optional[Detail]:
        return self._best_of(self.plausible)

    def _best_of(self, found: Sequence[Detail]) -> Optional[Detail]:
        """The first in order of merit that breaks nothing in the whole suite.

        One for which fewer examples in docstrings go wrong is preferred to those before it.
        """
        best: Optional[Detail] = None
        for detail in by_merit(self.bench, found)[:12]:
            whole = self.bench.whole_suite(detail.candidate, detail.fixed)
            if not detail.fixed <= whole.fixed or whole.broken:
                continue
            if best is None or (
                len(whole.fixed) >= len(best.fixed) and whole.wrong_examples < best.wrong_examples
            ):
                best = whole
            if not best.wrong_examples or self.bench.budget.left_s() <= 0:
                break
        return best
