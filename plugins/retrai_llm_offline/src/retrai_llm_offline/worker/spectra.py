"""Which lines to suspect: those that failing tests run and passing tests do not (Ochiai)."""

from __future__ import annotations

import math
from typing import Dict, List, Mapping, Sequence, Set, Tuple

Place = Tuple[str, int]


class Spectra:
    """The lines each test runs."""

    def __init__(self) -> None:
        self.of_test: Dict[int, Set[Place]] = {}

    def add(self, test: int, lines: Mapping[str, Sequence[int]]) -> None:
        """Note a test's lines."""
        places = self.of_test.setdefault(test, set())
        for path, numbers in lines.items():
            places.update((path, number) for number in numbers)

    def suspicion(self, failing: Sequence[int], passing: Sequence[int]) -> Dict[Place, float]:
        """Ochiai's coefficient of every line that a failing test runs, scaled to a highest of 1.

        ef / sqrt(F * (ef + ep)): ef and ep count the failing and passing tests that run the
        line, F all failing tests (Ochiai 1957; Abreu, Zoeteweij, van Gemund 2006).
        """
        failed = [self.of_test[test] for test in failing if self.of_test.get(test)]
        passed = [self.of_test[test] for test in passing if test in self.of_test]
        counts: Dict[Place, List[int]] = {}
        for index, runs in enumerate((failed, passed)):
            for places in runs:
                for place in places:
                    counts.setdefault(place, [0, 0])[index] += 1
        scores = {
            place: ef / math.sqrt(len(failed) * (ef + ep))
            for place, (ef, ep) in counts.items()
            if ef
        }
        highest = max(scores.values(), default=1.0)
        return {place: score / highest for place, score in scores.items()}

    def groups(self, failing: Sequence[int]) -> List[List[int]]:
        """The failing tests by code that they share, most first: each may have a bug of its own.

        Tests of which no line is known are a group only where there is no other.
        """
        left = list(failing)
        found: List[List[int]] = []
        while left and (not found or any(self.of_test.get(test) for test in left)):
            group = self._largest(left)
            found.append(group)
            left = [test for test in left if test not in group]
        return found

    def _largest(self, failing: Sequence[int]) -> List[int]:
        groups: Dict[Place, List[int]] = {}
        for test in failing:
            for place in self.of_test.get(test, ()):
                groups.setdefault(place, []).append(test)
        if not groups:
            return list(failing)
        return max(groups.values(), key=lambda group: (len(group), [-test for test in group]))

    def targets(self, tests: Sequence[int], count: int) -> List[int]:
        """A few tests to try candidates on: the one that runs least, then the most different."""
        known = sorted(tests, key=lambda test: (len(self.of_test.get(test, ())), test))
        chosen = known[:1]
        while len(chosen) < min(count, len(known)):
            seen: Set[Place] = set()
            for test in chosen:
                seen |= self.of_test.get(test, set())
            left = [test for test in known if test not in chosen]
            chosen.append(max(left, key=lambda test: len(self.of_test.get(test, set()) - seen)))
        return chosen
