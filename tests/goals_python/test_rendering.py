"""What the model reads stays short, and says each error once."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrai_goal_support import shorten
from retrai_goals_python.pytest.case_outcomes import read_session
from retrai_goals_python.pytest.report_lines import read_lines
from retrai_goals_python.pytest.run import Failure, PytestRun, render_failures


def a_run(*failures: Failure, problem: str = "") -> PytestRun:
    cases = {failure.id: failure.outcome for failure in failures}
    return PytestRun(cases, failures, not problem, 1, ("pytest",), "python", 1.0, problem)


def a_failure(number: int, message: str, text: str = "the text") -> Failure:
    return Failure(f"t.py::test_{number}", "failed", "t.py:1", message, text)


def test_each_error_is_told_once():
    text = render_failures(a_run(*(a_failure(n, "the same", "long story") for n in range(50))))
    assert text.count("long story") == 1
    assert "The same error in 49 more: t.py::test_1, " in text


def test_what_keeps_tests_from_running_comes_first():
    error = Failure("t.py", "error", "", "no module", "cannot import")
    text = render_failures(a_run(a_failure(1, "assert 1"), error))
    assert text.index("cannot import") < text.index("t.py::test_1")


def test_later_failures_are_named_only():
    text = render_failures(a_run(*(a_failure(n, f"message {n}") for n in range(30))), max_full=2)
    assert text.count("the text") == 2
    assert "28 more failing:" in text
    assert "- t.py::test_29: message 29" in text


def test_an_incomplete_run_says_so_first():
    assert render_failures(a_run(problem="it hung")).startswith("The run is not complete: it hung")


def test_a_good_run_says_nothing():
    assert render_failures(a_run()) == ""


@given(
    st.lists(st.tuples(st.text(max_size=50), st.text(max_size=3000)), max_size=30),
    st.integers(500, 8000),
)
def test_no_run_is_told_at_more_than_its_length(said, max_chars):
    failures = [a_failure(n, message, text) for n, (message, text) in enumerate(said)]
    assert len(render_failures(a_run(*failures), max_chars)) <= max_chars


@given(st.text(max_size=500), st.integers(1, 400))
def test_a_shortened_text_fits_and_keeps_its_ends(text, max_chars):
    short = shorten(text, max_chars)
    assert len(short) <= max_chars
    if len(text) <= max_chars:
        assert short == text


LINES = (
    b'{"kind": "begin", "pytest": "9.0.0"}\n'
    b'{"kind": "collected", "ids": ["a", "b"]}\n'
    b'{"kind": "start", "id": "a"}\n'
    b'{"kind": "phase", "id": "a", "when": "setup", "outcome": "passed"}\n'
    b'{"kind": "phase", "id": "a", "when": "call", "outcome": "passed"}\n'
    b'{"kind": "phase", "id": "a", "when": "teardown", "outcome": "passed"}\n'
    b'{"kind": "start", "id": "b"}\n'
    b'{"kind": "phase", "id": "b", "when": "setup", "outcome": "failed", "why": {"text": "no"}}\n'
    b'{"kind": "phase", "id": "b", "when": "teardown", "outcome": "passed"}\n'
    b'{"kind": "finish", "exit_status": 1}\n'
)


@pytest.mark.parametrize("length", range(0, len(LINES), 7))
def test_a_report_that_was_cut_off_anywhere_can_be_read(length):
    lines, damaged = read_lines(LINES[:length])
    session = read_session(lines)
    assert damaged == 0
    assert session.finish is None
    ended = [name for name in session.cases if session.cases[name].finished]
    assert {*ended, *session.running(), *session.not_run()} >= set(session.collected)


@given(st.integers(0, len(LINES) - 1), st.binary(min_size=1, max_size=20))
def test_a_damaged_report_is_noticed_and_never_breaks_the_reading(place, noise):
    data = LINES[:place] + noise + LINES[place:]
    lines, damaged = read_lines(data)
    read_session(lines)
    assert damaged or lines != read_lines(LINES)[0] or not noise.strip()


def test_the_order_of_collection_is_kept():
    names = [f"t{n}" for n in range(50)]
    shuffled = random.Random(3).sample(names, len(names))
    quoted = ", ".join(f'"{name}"' for name in names)
    data = f'{{"kind": "collected", "ids": [{quoted}]}}\n' + "".join(
        f'{{"kind": "phase", "id": "{name}", "when": "teardown", "outcome": "passed"}}\n'
        for name in shuffled
    )
    lines, _ = read_lines(data.encode())
    assert list(read_session(lines).cases) == names
