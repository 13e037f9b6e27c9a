"""Turns the report's lines into one outcome for each case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from retrai_core import CaseOutcome

from .report_lines import Begin, Calls, Collected, Ended, Explanation, Finish, Line, Phase, Start

MAX_SUBTESTS = 5
_RERUN_PLUGINS = {"pytest-rerunfailures", "pytest-retry", "flaky"}


@dataclass
class Case:
    """What is known of one case so far."""

    node_id: str
    outcome: CaseOutcome | None = None
    finished: bool = False
    more_subtests: int = 0
    problems: list[tuple[str, Explanation]] = field(default_factory=list[tuple[str, Explanation]])
    sections: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    @property
    def final_outcome(self) -> CaseOutcome:
        """One that was cut off counts as an error: nobody knows how it would have ended."""
        return self.outcome if self.finished and self.outcome else "error"


@dataclass
class Session:
    """Everything that the report says, case by case.

    Attributes:
        forged: what pytest itself would not have said; empty when there is nothing.
    """

    cases: dict[str, Case] = field(default_factory=dict[str, Case])
    begin: Begin | None = None
    ended: Ended | None = None
    finish: Finish | None = None
    collected: tuple[str, ...] = ()
    last_started: str = ""
    calls: dict[str, Calls] = field(default_factory=dict[str, Calls])
    forged: str = ""

    def running(self) -> list[str]:
        """Cases that were started and have not ended."""
        return [name for name, case in self.cases.items() if not case.finished]

    def not_run(self) -> list[str]:
        """Cases that were collected and never begun."""
        return [name for name in self.collected if name not in self.cases]


def read_session(lines: Iterable[Line]) -> Session:
    """One outcome a case, from set-up, call and tear-down."""
    session = Session()
    current: dict[str, str] = {}
    for line in lines:
        match line:
            case Start():
                current[line.id] = _name_for(session, line.id)
                session.cases[current[line.id]] = Case(line.id)
                session.last_started = current[line.id]
            case Phase():
                _take_phase(session, line, current.setdefault(line.id, line.id))
            case Collected():
                session.collected = session.collected or tuple(line.ids)
            case Begin():
                session.forged = "two beginnings" if session.begin else session.forged
                session.begin = line
            case Calls():
                session.calls[current.get(line.id, line.id)] = line
            case Ended():
                session.ended = session.ended or line
            case Finish():
                session.forged = "two ends" if session.finish else session.forged
                session.finish = line
    _sort_as_collected(session)
    return session


def _name_for(session: Session, name: str) -> str:
    """The id itself, or `id#2` for the second case of that id."""
    number, found = 1, name
    while found in session.cases:
        number += 1
        found = f"{name}#{number}"
    return found


def _take_phase(session: Session, line: Phase, name: str) -> None:
    case = session.cases.setdefault(name, Case(line.id))
    if session.finish is not None:
        session.forged = f"an outcome of {line.id} after the end of the session"
    if line.outcome not in ("passed", "failed", "skipped"):
        if session.begin is None or not _RERUN_PLUGINS.intersection(session.begin.plugins):
            return  # the tries before it count as well
        # A plugin runs the test once more (`rerun`); only the last try counts.
        session.cases[name] = Case(line.id)
        return
    if line.subtest:
        _take_subtest(case, line)
        return
    outcome = _outcome_of(line)
    # A failed call stays failed when its tear-down breaks too; a broken tear-down spoils all else.
    if outcome is not None and case.outcome not in ("failed", "error"):
        case.outcome = outcome
    if line.outcome == "failed":
        # pytest 9 adds "contains 2 failed subtests" to the subtests that were told already.
        if not line.why.text.startswith("contains ") or not case.problems:
            case.problems.append((line.when, line.why))
        case.sections = line.sections
    # "???" is what xdist reports when the worker that ran the test has died.
    if line.when in ("teardown", "collection", "???"):
        case.finished = True


def _take_subtest(case: Case, line: Phase) -> None:
    """A subtest is a part of its test: one that fails, fails the test.

    It is no case of its own, since its description may come from the very code that is fixed.
    """
    if line.outcome != "failed":
        return
    case.outcome = "failed"
    case.sections = line.sections
    if len(case.problems) < MAX_SUBTESTS:
        case.problems.append((f"subtest {line.subtest}", line.why))
    else:
        case.more_subtests += 1


def _outcome_of(line: Phase) -> CaseOutcome | None:
    """The outcome that one phase decides; None where a later one decides."""
    if line.outcome == "failed":
        return "error" if line.when in ("setup", "teardown", "collection") else "failed"
    if line.outcome == "skipped":
        return "xfailed" if line.is_xfail else "skipped"
    if line.when == "call":
        return "xpassed" if line.is_xfail else "passed"
    return None


def _sort_as_collected(session: Session) -> None:
    """Under xdist cases end in any order; the report keeps the order of collection."""
    place = {name: index for index, name in enumerate(session.collected)}
    in_order = sorted(session.cases.items(), key=lambda pair: place.get(pair[1].node_id, -1))
    session.cases = dict(in_order)
