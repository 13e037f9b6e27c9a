"""The test bench: the project as it stands now, and candidates tried on it."""

from __future__ import annotations

import ast
from typing import Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from .budget import Budget
from .candidate import Candidate, apply_edits, by_file
from .hotswap import Patch, patches_for
from .override import Overrides
from .project import Project
from .running import CRASHED, FAILED, PASSED, TIMED_OUT
from .session import NEEDS_IMPORT, Attempt, Session
from .source import SourceFile, read_text
from .spectra import Spectra
from .state_check import keeps_state

BAD = (FAILED, TIMED_OUT, CRASHED)
FIRST_LIMIT_S, SECOND_LIMIT_S, LAST_LIMIT_S = 0.3, 2.0, 10.0
SLOW_S = 1.0
SAMPLE = 120
BATCH = 24


class Detail(NamedTuple):
    """What a candidate does to the tests it was checked with."""

    candidate: Candidate
    fixed: Set[int]
    broken: Set[int]
    wrong_examples: int = 0


class Bench:
    """One collected session over a state of the sources; `close` it when the state changes."""

    def __init__(
        self, project: Project, arguments: Sequence[str], texts: Mapping[str, str], budget: Budget
    ) -> None:
        self.project = project
        self.arguments = list(arguments)
        self.texts = dict(texts)
        self.budget = budget
        self.overrides = Overrides()
        self.overrides.texts.update(self.texts)
        self.session = Session(project, arguments, self.overrides, 120.0)
        if not self.session.started:
            # A fork can fail for want of memory or processes while the machine is busy.
            self.session.close()
            self.session = Session(project, arguments, self.overrides, 120.0)
        self.outcomes: Dict[int, str] = {}
        self.seconds: Dict[int, float] = {}
        self.official: Set[int] = set()
        self.spectra = Spectra()
        self.sources: Dict[str, SourceFile] = {}
        self.limit_s = 0.1
        self.batch = BATCH
        self._wrong = 0

    @property
    def failing(self) -> List[int]:
        """Tests that do not pass now."""
        return sorted(test for test, letter in self.outcomes.items() if letter in BAD)

    @property
    def passing(self) -> List[int]:
        """Tests that pass now."""
        return sorted(test for test, letter in self.outcomes.items() if letter == PASSED)

    @property
    def _quick(self) -> List[int]:
        """Passing tests that candidates can be tried with; the whole suite has the slow ones."""
        return [test for test in self.passing if self.seconds.get(test, 0.0) <= SLOW_S]

    @property
    def patient_s(self) -> float:
        """CPU seconds for a test that ran out of time with a candidate that is worth it."""
        return max(self.limit_s, min(10 * self.limit_s, SECOND_LIMIT_S))

    def close(self) -> None:
        """End the session and count its time."""
        self.session.close()
        self.budget.session_cpu_s = 0.0

    def _ask(self, command: Dict[str, object]) -> "list[dict[str, object]]":
        answers = self.session.ask(command, 600.0)
        self.budget.session_cpu_s = self.session.cpu_s
        return answers

    @property
    def hanging(self) -> Set[str]:
        """The ids of tests that do not end."""
        nodes = self.session.nodes
        return {nodes[test] for test, letter in self.outcomes.items() if letter == TIMED_OUT}

    def take_outcomes(self, hung: Optional[Set[str]] = None) -> None:
        """Run every test as it stands, with full reports; find the tests that hang.

        One that only takes long must not be taken for another to fix: where some fail, or where
        `hung` says which are known to hang, the other long ones are waited for, as far as they
        compute.
        """
        everything = list(range(len(self.session.nodes)))
        self._outcomes(everything, FIRST_LIMIT_S, everything)
        slow = [test for test in everything if self.outcomes.get(test) == TIMED_OUT]
        slow = [test for test in slow if self.session.nodes[test] not in (hung or ())]
        limits_s = [SECOND_LIMIT_S]
        if hung is not None or FAILED in self.outcomes.values():
            limits_s.append(LAST_LIMIT_S)
        for test in slow:
            for limit_s in limits_s:
                sleeps = limit_s == LAST_LIMIT_S and self.seconds[test] < SECOND_LIMIT_S / 2
                if self.outcomes[test] == TIMED_OUT and not sleeps:
                    self._outcomes([test], limit_s, [test])
            if self.outcomes[test] == TIMED_OUT:
                break

    def calibrate(self) -> None:
        """Find the tests that need full reports, and how long a test may take."""
        sample = self.failing[:40] + _spread(self._quick, SAMPLE)
        quick = [test for test in sample if self.outcomes[test] != TIMED_OUT]
        before = dict(self.outcomes)
        self._outcomes(quick, SECOND_LIMIT_S, [])
        self.official = {test for test in quick if self.outcomes[test] != before[test]}
        if self.official:
            # What fails looks the same either way, and one of them may need reports to pass.
            self.official.update(self.failing)
        self.outcomes = before
        timed = self._quick + [t for t in self.failing if self.outcomes[t] == FAILED]
        usual = [self.seconds.get(test, 0.0) for test in timed]
        self.limit_s = min(2.0, max(0.02, 6 * max(usual, default=0.0)))

    def _outcomes(self, tests: List[int], cpu_s: float, official: Iterable[int]) -> None:
        command: Dict[str, object] = {"do": "outcomes", "tests": tests, "official": list(official)}
        command.update(self._limits(cpu_s))
        for answer in self._ask(command):
            test = int(str(answer["test"]))
            self.outcomes[test] = str(answer["outcome"])
            self.seconds[test] = float(str(answer["s"]))

    def _limits(self, cpu_s: float) -> Dict[str, object]:
        wall_s = min(4 * cpu_s + 2, cpu_s + 15)
        return {"cpu_s": cpu_s, "wall_s": wall_s, "silence_s": 8 * cpu_s + 20}

    def trace(self, in_vain: Mapping[str, float]) -> None:
        """Record which lines failing tests and a sample of the passing ones run.

        Args:
            in_vain: seconds that were spent on a test before, by its id; of many failing tests
                those are traced that cost least.
        """
        nodes = self.session.nodes
        failing = sorted(self.failing, key=lambda test: in_vain.get(nodes[test], 0.0))
        hanging = [test for test in failing if self.outcomes[test] == TIMED_OUT]
        tests = [test for test in failing if test not in hanging][:24] + hanging[:6]
        tests += _spread(self._quick, SAMPLE)
        command: Dict[str, object] = {"do": "spectra", "tests": tests, "budget_s": 20.0}
        command.update(self._limits(max(0.25, 8 * self.limit_s)))
        for answer in self._ask(command):
            lines = answer["lines"]
            if isinstance(lines, dict):
                self.spectra.add(int(str(answer["test"])), lines)  # pyright: ignore[reportUnknownArgumentType]

    def source(self, path: str) -> Optional[SourceFile]:
        """A parsed source file in its present state, or None if it cannot be read or parsed."""
        if path not in self.sources:
            try:
                text = self.texts[path] if path in self.texts else read_text(path)
                source = SourceFile(path, text)
            except (OSError, SyntaxError, ValueError):
                return None
            self.sources[path] = source
            if keeps_state(source.tree):
                self.batch = 1
        return self.sources[path]

    def attempt(self, candidate: Candidate) -> Optional[Attempt]:
        """A candidate as new code for live functions; None when it needs a new import."""
        patches: List[Patch] = []
        texts: Dict[str, str] = {}
        for path, edits in by_file(candidate.edits).items():
            source = self.source(path)
            if source is None:
                return None
            if path not in self.session.loaded:
                texts[path] = apply_edits(source.text, edits)
                continue
            found = patches_for(source, edits)
            if found is None:
                return None
            patches.extend(found)
        return Attempt(patches, texts)

    def try_all(
        self,
        candidates: Sequence[Candidate],
        tests: Sequence[int],
        fresh: bool = False,
        limit_s: float = 0.0,
        official: Optional[Iterable[int]] = None,
    ) -> List[str]:
        """The letters of the tests for each candidate; "" where it could not be tried.

        `official` tests get full reports; where it is left out, those that are known to need them.
        """
        results = [""] * len(candidates)
        hot: List[Tuple[int, Attempt]] = []
        cold: List[int] = []
        for index, candidate in enumerate(candidates):
            attempt = self.attempt(candidate)
            if attempt is None:
                cold.append(index)
            else:
                hot.append((index, attempt))
        command: Dict[str, object] = {
            "do": "try",
            "attempts": [attempt.to_message() for _, attempt in hot],
            "tests": list(tests),
            "official": sorted(self.official if official is None else official),
            "batch": 1 if fresh else self.batch,
            "examples": fresh,
        }
        command.update(self._limits(limit_s or self.limit_s))
        self.budget.tried += len(candidates)
        for answer in self._ask(command) if hot else []:
            index = hot[int(str(answer["at"]))][0]
            results[index] = str(answer["outcome"])
            self._wrong = int(str(answer.get("wrong", 0)))
            if results[index] == NEEDS_IMPORT:
                cold.append(index)
        for index in cold:
            results[index] = self._import_anew(candidates[index], tests, limit_s or self.limit_s)
        return [result if len(result) == len(tests) else "" for result in results]

    def _import_anew(self, candidate: Candidate, tests: Sequence[int], limit_s: float) -> str:
        """Collect the tests again with the candidate in place, for code that runs at import."""
        overrides = Overrides()
        overrides.texts.update(self.texts)
        try:
            for path, edits in by_file(candidate.edits).items():
                source = self.source(path)
                if source is not None:
                    overrides.texts[path] = apply_edits(source.text, edits)
                    ast.parse(overrides.texts[path])
        except (SyntaxError, ValueError):
            return ""
        session = Session(self.project, self.arguments, overrides, 20.0)
        try:
            places = {node: index for index, node in enumerate(session.nodes)}
            wanted = [places.get(self.session.nodes[test], -1) for test in tests]
            if -1 in wanted or len(session.errors) > len(self.session.errors):
                return CRASHED * len(tests)
            command: Dict[str, object] = {"do": "outcomes", "tests": wanted, "official": wanted}
            command.update(self._limits(max(limit_s, FIRST_LIMIT_S)))
            letters = {int(str(a["test"])): str(a["outcome"]) for a in session.ask(command, 60.0)}
            return "".join(letters.get(test, CRASHED) for test in wanted)
        finally:
            session.close()

    def detail(
        self, candidate: Candidate, failing: Sequence[int], passing: Sequence[int]
    ) -> Detail:
        """Check one candidate in a process of its own against these tests.

        What fails at once says little of how long it takes to pass: a candidate with which a test
        runs out of time, and none fails, is given more of it.
        """
        tests = self.in_turn([*failing, *passing])
        letters = self.try_all([candidate], tests, fresh=True)[0]
        if TIMED_OUT in letters and FAILED not in letters and self.limit_s < self.patient_s:
            letters = self.try_all([candidate], tests, True, self.patient_s)[0]
        good = {test for test, letter in zip(tests, letters) if letter == PASSED}
        return Detail(candidate, good & set(failing), set(passing) - good)

    def in_turn(self, tests: Iterable[int]) -> List[int]:
        """Tests in this order, those that hang at the end: none is run after one that does."""
        return sorted(tests, key=lambda test: self.outcomes.get(test) == TIMED_OUT)

    def whole_suite(self, candidate: Candidate, fixed: Iterable[int]) -> Detail:
        """Run every test in its own order, with full reports, with a candidate in place.

        Of the tests that hang, those alone that it is known to have `fixed`.
        """
        failing, passing = set(self.failing), set(self.passing)
        hanging = {test for test in failing if self.outcomes[test] == TIMED_OUT}
        steady = sorted((failing | passing) - hanging)
        tests = steady + sorted(hanging.intersection(fixed))
        slowest = max([self.seconds.get(test, 0.0) for test in steady] + [0.0])
        limit_s = max(10 * self.limit_s, 3 * slowest + 0.5)
        self._wrong = 0
        letters = self.try_all([candidate], tests, True, limit_s, official=tests)[0]
        good = {test for test, letter in zip(tests, letters) if letter == PASSED}
        return Detail(candidate, good & failing, passing - good, self._wrong)


def _spread(tests: Sequence[int], count: int) -> List[int]:
    if len(tests) <= count:
        return list(tests)
    return [tests[index * len(tests) // count] for index in range(count)]
