"""The few lines that say how a run ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from retrai_core.cli.render.summary import head_line, summary_lines
from retrai_core.contracts.record import CheckEvidence, GoalRecord, RunRecord


def shown(ended: str, **after: Any) -> list[str]:
    record = RunRecord(
        id="r1",
        goals=[GoalRecord(name="pytest", after=CheckEvidence(achieved=False, **after))],
        model="offline",
        project=Path("/p"),
        status="failed",
        reason=ended,
    )
    return [line.plain for line in summary_lines(record)]


def test_an_error_that_kept_cases_from_running_is_told_with_its_place() -> None:
    why = "no tests were collected (a.py:1: SyntaxError: expected ':')"
    lines = shown("the model called no tool", reason=why, counts={"error": 1})
    assert f"  after     1 error: {why}" in lines


def test_the_place_is_told_once() -> None:
    why = "no tests were collected (a.py:1: SyntaxError: expected ':')"
    lines = shown(f"1 iteration used up; {why}", reason=why, counts={"error": 1})
    assert "  after     1 error" in lines


def test_cases_that_fail_are_only_counted() -> None:
    lines = shown("given up", reason="1 of 2 tests fails", counts={"failed": 1, "passed": 1})
    assert "  after     1 failed, 1 passed" in lines


def test_of_many_changed_files_the_first_are_named() -> None:
    paths = [f"a{number:03}.py" for number in range(1020)]
    record = RunRecord(id="r1", model="offline", project=Path("/p"), changed_files=paths)
    (changed,) = [it.plain for it in summary_lines(record) if it.plain.startswith("  changed")]
    assert changed.startswith("  changed   a000.py, a001.py, ")
    assert changed.endswith(", a019.py and 1,000 more")


def test_an_answer_is_shown_as_it_is_and_steers_no_terminal() -> None:
    record = RunRecord(
        id="r1", agent="explain", model="m", project=Path("/p"), status="answered", reason="done"
    )
    record.output = "In price.py:\n    def total\x1b[2J(items)\n"
    lines = [line.plain for line in summary_lines(record)]
    assert lines[:3] == ["answered: done", "  In price.py:", "      def total\\u001b[2J(items)"]
    assert head_line(record).plain == "run r1: explain with m in /p"
