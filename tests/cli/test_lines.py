"""One line a step: iteration, tool, short argument, duration."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from retrai_core.cli.render.lines import EventLines
from retrai_core.cli.render.terminal import RunTerminal, make_console

CALL = {"id": "c1", "tool": "file_patch", "args": {}, "summary": "shop/stock.py"}
RESULT = {
    "id": "c1",
    "tool": "file_patch",
    "error": False,
    "content": "patched",
    "duration_s": 0.04,
    "cut_chars": 0,
    "replayed": False,
}
CHECK = {
    "phase": "iteration",
    "achieved": False,
    "reason": "2 of 20 tests fail",
    "details": "",
    "counts": {"failed": 2, "passed": 18},
    "duration_s": 1.0,
    "remembered": False,
}


def shown(lines: EventLines, *events) -> list[str]:
    return [line.plain for event in events for line in lines.write(event)]


def test_a_tool_call_is_one_line_when_it_has_ended(event) -> None:
    lines = EventLines(100)
    assert shown(lines, event("step_start", node="act"), event("tool_call", **CALL)) == []
    assert lines.waiting_for == "file_patch shop/stock.py"
    (line,) = shown(lines, event("tool_result", **RESULT))
    assert line.split() == ["2", "file_patch", "shop/stock.py", "0.0", "s"]


def test_what_comes_before_the_first_iteration_belongs_to_none(event) -> None:
    (line,) = shown(EventLines(100), event("goal_check", **(CHECK | {"phase": "baseline"})))
    assert line.split()[0] == "check"


def test_a_failed_call_says_why_on_a_second_line(event) -> None:
    lines = EventLines(100)
    failed = RESULT | {"error": True, "content": "no such text\nnearest line: 3"}
    _, why = shown(lines, event("tool_call", **CALL), event("tool_result", **failed))
    assert why.strip() == "no such text"


def test_a_call_taken_from_the_journal_is_marked(event) -> None:
    lines = EventLines(100)
    replayed = RESULT | {"replayed": True}
    (line,) = shown(lines, event("tool_call", **CALL), event("tool_result", **replayed))
    assert "done before the run was resumed" in line


def test_the_verdict_carries_the_counts(event) -> None:
    (line,) = shown(EventLines(100), event("goal_check", **CHECK))
    assert "fails: 2 of 20 tests fail (2 failed, 18 passed)" in line


def test_a_remembered_verdict_says_that_nothing_changed(event) -> None:
    (line,) = shown(EventLines(120), event("goal_check", **(CHECK | {"remembered": True})))
    assert "nothing changed" in line


def test_no_line_is_longer_than_the_terminal(event) -> None:
    long = CALL | {"summary": "x" * 500}
    lines = shown(EventLines(80), event("tool_call", **long), event("tool_result", **RESULT))
    assert max(map(len, lines)) <= 80


def test_escape_sequences_of_a_model_do_not_reach_the_terminal(event) -> None:
    usage = {
        "model": "m",
        "text": "\x1b[2Jgone",
        "tool_calls": [],
        "prompt_tokens": 1,
        "completion_tokens": 1,
        "total_tokens": 2,
        "cost_usd": None,
        "duration_s": 0.1,
    }
    stream = io.StringIO()
    terminal = RunTerminal(Console(file=stream, no_color=True, width=100))
    terminal.hear(event("llm_usage", **usage))
    assert "\x1b" not in stream.getvalue()
    assert "\\u001b[2Jgone" in stream.getvalue()


@pytest.mark.parametrize(("approved", "then"), [(True, "going on"), (False, "ending the run")])
def test_an_answer_is_not_waited_for_any_more(event, approved: bool, then: str) -> None:
    lines = EventLines(100)
    shown(lines, event("step_start", node="human_check"))
    assert lines.waiting_for == "waiting for your answer"
    shown(lines, event("human_check_response", approved=approved, decision="abort"))
    assert lines.waiting_for == then


def test_totals_follow_the_iterations(event) -> None:
    lines = EventLines(100)
    shown(lines, event("iteration_complete", total_tokens=1500, cost_usd=0.25))
    assert lines.used() == "1,500 tokens, $0.2500"


def test_kinds_without_a_line_are_passed_over(event) -> None:
    assert shown(EventLines(80), event("run_end", status="achieved")) == []
    found = event("log", level="warning", message="worth a look: a.py:1: a new noqa")
    assert shown(EventLines(80), found) == []  # told in the summary


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "no_color", "live"),
    [(Screen(), "", True), (Screen(), "1", False), (io.StringIO(), "", False)],
    ids=["terminal", "NO_COLOR", "no terminal"],
)
def test_only_a_terminal_that_may_show_colours_is_shown_live(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, no_color: str, live: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout", stream)
    console = make_console()
    assert console.is_terminal == live
    console.print("outcome", style="red")
    assert ("\x1b[" in stream.getvalue()) == live


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"question_id": "act.1", "decision": "approve", "text": ""}, "approve"),
        ({"question_id": "q.1", "decision": "", "text": "the blue one"}, "the blue one"),
        ({"question_id": "q.1", "decision": "reject", "text": "ask Ann"}, "reject: ask Ann"),
        ({"response": "yes"}, "yes"),  # of retrai 0.1
    ],
)
def test_what_a_person_answered_is_told(event, given: dict[str, str], told: str) -> None:
    (line,) = shown(EventLines(100), event("human_check_response", approved=True, **given))
    assert line.split("you", 1)[1].strip() == told
