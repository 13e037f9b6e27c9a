"""Reads what our reporter wrote down inside node's own test runner."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from retrai_core import CaseOutcome
from retrai_goal_support import text_of

from .suite_run import SuiteRun, readable, relative


class NodeEvent(BaseModel):
    """One test or suite that ended, what a file printed, or the end of all (`plan`)."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    kind: Literal["pass", "fail", "stderr", "plan"]
    name: str = ""
    nesting: int = 0
    file: str = ""
    suite: bool = False
    skip: bool = False
    todo: bool = False
    failure: str = ""
    message: str = ""


def read_node_report(data: bytes, folder: Path) -> SuiteRun:
    """Every case of the report.

    The events of a test come before that of the test or suite around it, so names are put together
    from the end.

    Args:
        data: the report's bytes; empty when there is none.
        folder: where node ran.
    """
    run = SuiteRun()
    events = _events(data)
    if not any(event.kind == "plan" for event in events):
        run.problem = "node's test runner left no whole report"
    above: dict[int, str] = {}
    cases: list[tuple[NodeEvent, str]] = []
    for event in reversed([event for event in events if event.kind in ("pass", "fail")]):
        above = {depth: name for depth, name in above.items() if depth < event.nesting}
        title = "::".join([*(above[depth] for depth in sorted(above)), event.name])
        above[event.nesting] = event.name
        cases.append((event, title))
    files_with_tests = {event.file for event, _ in cases if not _is_file(event)}
    for event, title in reversed(cases):
        place = relative(event.file or event.name, folder)
        if _is_file(event):
            said = "".join(e.message for e in events if e.kind == "stderr" and e.file == event.file)
            _take_file(run, event, place, event.file in files_with_tests, folder)
            if place in run.failures and said:
                run.failures[place] += f"\n{readable(said, folder)[:3000]}"
        elif not event.suite or (event.kind == "fail" and event.failure != "subtestsFailed"):
            run.add(f"{place}::{title}", _outcome(event), readable(event.message, folder))
    return run


def _take_file(run: SuiteRun, event: NodeEvent, place: str, has_tests: bool, folder: Path) -> None:
    """A file is a case of its own where it could not be loaded, or is a plain script."""
    if event.kind == "fail":
        if not has_tests or event.failure != "subtestsFailed":
            run.add(place, "error", readable(event.message, folder))
    elif not has_tests and "node:test" in text_of(folder / place):
        run.problem = run.problem or (
            f"{place} ended without running a test (look for process.exit)"
        )
    elif not has_tests:
        run.add(place, "passed")


def _outcome(event: NodeEvent) -> CaseOutcome:
    if event.skip or event.todo:
        return "skipped"
    return "passed" if event.kind == "pass" else "failed"


def _is_file(event: NodeEvent) -> bool:
    """The runner reports each file as a test around those in it."""
    same = bool(event.file) and event.name.replace("\\", "/").endswith(Path(event.file).name)
    return event.nesting == 0 and same and not event.suite


def _events(data: bytes) -> list[NodeEvent]:
    events: list[NodeEvent] = []
    for line in data.splitlines():
        try:
            events.append(NodeEvent.model_validate_json(line))
        except ValidationError:
            continue  # the last line of a process that died
    return events
