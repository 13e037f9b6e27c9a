"""Reads what our reporter for node wrote down."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from retrai_goal_support import json_lines

from .jest_report import OUTCOMES, ReportPart, case_id
from .suite_run import SuiteRun, readable


class _Event(ReportPart):
    """A test, suite or file that began or ended, what a file printed, or the end (`plan`)."""

    kind: Literal["begun", "ended", "printed", "plan"]
    is_passed: bool = False
    status: str = ""
    name: str = ""
    nesting: int = 0
    file: str = ""
    is_file: bool = False
    is_suite: bool = False
    declares_tests: bool = False
    is_of_inner: bool = False
    text: str = ""


def read_node_report(data: bytes, folder: Path) -> SuiteRun:
    """Every case of the report, as far as it goes.

    Args:
        data: what the reporter wrote, a JSON object a line.
        folder: where the runner ran.
    """
    events = list(json_lines(data.splitlines(), _Event))
    ended = [event for event in events if event.kind == "ended"]
    have_tests = {event.file for event in ended if not event.is_file}
    is_whole = any(event.kind == "plan" for event in events)
    problem = "" if is_whole else "node's test runner left no whole report"
    cases: list[tuple[str, list[str], str, str]] = []
    above: list[str] = []
    # A suite ends after its tests, or never where the runner crashes.
    for event in events:
        if event.kind in ("begun", "ended"):
            above[event.nesting :] = [event.name]
        if event.kind != "ended":
            continue
        has_tests = event.file in have_tests
        titles, status, text = [*above], event.status, event.text
        if not event.is_file:
            # A suite is a case only where it failed by itself.
            is_case = not event.is_suite or not (event.is_passed or event.is_of_inner)
        elif event.is_passed:
            # It could not be loaded, or is a plain script.
            is_case = not has_tests and not event.declares_tests
            titles, status = [], "passed"
            if not has_tests and event.declares_tests:
                name = Path(event.file).name
                problem = problem or f"{name} ended without running a test (look for process.exit)"
        else:
            is_case = not has_tests or not event.is_of_inner
            titles, status = [], "error"
            printed = [e.text for e in events if e.kind == "printed" and e.file == event.file]
            text = "\n".join([text, "".join(printed)])
        if is_case:
            cases.append((event.file, titles, status, text))
    run = SuiteRun(problem=problem)
    for file, titles, status, text in sorted(cases, key=lambda case: case[0]):
        case = case_id(file, titles, folder)
        run.add(case, OUTCOMES.get(status, "error"), readable(text, folder))
    return run
