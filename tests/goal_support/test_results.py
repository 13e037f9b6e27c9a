"""What the model reads of a program's output: its beginning and its end, and how it ended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrai_core import Completed
from retrai_goal_support import code_result, shorten


@given(text=st.text(max_size=300), max_chars=st.integers(0, 300))
def test_a_shortened_text_fits_and_keeps_both_ends(text: str, max_chars: int) -> None:
    short = shorten(text, max_chars)
    assert len(short) <= max_chars or short == text
    if len(text) <= max_chars:
        assert short == text
    elif "left out" in short:
        head, _, tail = short.partition("\n... ")
        said, _, tail = tail.partition(" characters left out ...\n")
        assert text.startswith(head)
        assert text.endswith(tail)
        assert int(said) == len(text) - len(head) - len(tail)


@pytest.mark.parametrize(
    ("done", "text", "ok"),
    [
        (Completed(0, "42\n", ""), "42", True),
        (Completed(0, "", ""), "[no output]", True),
        (Completed(3, "a\n", "no\n"), "a\nno\n[exit status 3]", False),
        (Completed(-9, "a", "", timed_out=True), "a\n[ended after 5 s, before it was done]", False),
    ],
)
def test_how_code_ended_is_told(done: Completed, text: str, ok: bool) -> None:
    result = code_result(done, timeout_s=5.0, max_chars=8000)
    assert (result.content, result.ok) == (text, ok)
    assert result.data["timed_out"] == done.timed_out


def test_a_folder_that_is_not_the_projects_is_not_shown() -> None:
    done = Completed(1, "", 'File "/tmp/x-1/code.py", line 1')
    result = code_result(done, timeout_s=5, max_chars=8000, hidden="/tmp/x-1/")
    assert result.content == 'File "code.py", line 1\n[exit status 1]'
    assert result.data["stderr"] == done.stderr


def test_long_output_is_cut_in_the_middle() -> None:
    result = code_result(Completed(0, "a" * 500 + "b" * 500, ""), timeout_s=5, max_chars=100)
    assert len(result.content) <= 100
    assert result.content[0] == "a"
    assert result.content[-1] == "b"
