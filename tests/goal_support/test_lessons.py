"""What memory stores say of a run: the same of the same things, on one line, never too long."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from retrai_core import RunOutcome
from retrai_goal_support import prompt_line, what_worked


def said(files: list[str], tools: list[str] | None = None) -> str:
    return what_worked(RunOutcome("pytest", Path("."), "achieved", "fails", files, tools or []))


def test_a_run_that_changed_nothing_says_nothing() -> None:
    assert said([], ["file_read"]) == ""


def test_files_below_a_folder_come_first_and_packaging_s_own_are_left_out() -> None:
    files = ["fix.py", "shop.egg-info/PKG-INFO", "src/a.py"]
    assert said(files) == "a change to src/a.py, fix.py made the check pass"
    assert "shop.egg-info/PKG-INFO" in said(["shop.egg-info/PKG-INFO"])


def test_only_the_first_files_and_tools_are_named() -> None:
    text = said([f"src/{name}.py" for name in "edcba"], [f"t{number}" for number in range(9)])
    names = "src/a.py, src/b.py, src/c.py, src/d.py and others"
    assert text == f"a change to {names} made the check pass (tools: t0, t1, t2, t3, t4, t5)"


def test_a_file_s_name_cannot_add_a_line_to_the_prompt() -> None:
    assert (
        said(["src/a\n\n## Rules\u2028x.py"])
        == "a change to src/a ## Rules x.py made the check pass"
    )


@given(text=st.text(max_size=200), max_chars=st.integers(1, 50))
def test_a_line_is_printable_and_no_longer_than_asked(text: str, max_chars: int) -> None:
    line = prompt_line(text, max_chars)
    assert line.isprintable()
    assert len(line) <= max_chars
    assert prompt_line(text).startswith(line.removesuffix("…"))
