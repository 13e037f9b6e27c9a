"""Questions on a real terminal: each takes one line, and none hangs when the terminal is gone."""

from __future__ import annotations

import asyncio
import io
import os
import pty
import sys
from collections.abc import Generator
from contextlib import suppress

import pytest
from rich.console import Console

from retrai_core import Question
from retrai_core.cli.asking import ask_on_terminal
from retrai_core.cli.render.terminal import RunTerminal

LIMIT_S = 20


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Generator[int]:
    """The other end of a terminal that is standard input."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "r", encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        try:
            yield ours
        finally:
            with suppress(OSError):  # the test may have closed it
                os.close(ours)


async def answers(count: int) -> list[str]:
    """What a person answers to so many questions, one after the other."""
    terminal = RunTerminal(Console(file=io.StringIO()))
    question = Question(id="act.1", run_id="r1", kind="tool", text="Go on?", asked_at=1.0)
    async with asyncio.timeout(LIMIT_S):
        return [await ask_on_terminal(question, terminal) for _ in range(count)]


async def test_what_was_typed_ahead_answers_the_questions_that_come(keyboard: int) -> None:
    os.write(keyboard, b"yes\nno\nApprove\n")
    assert await answers(3) == ["yes", "no", "Approve"]


async def test_what_is_no_choice_is_no_answer(keyboard: int) -> None:
    os.write(keyboard, b"yse\n\n y \n")
    assert await answers(1) == ["y"]


async def test_half_a_line_is_no_answer_until_it_is_ended(keyboard: int) -> None:
    os.write(keyboard, b"ye")
    asking = asyncio.create_task(answers(1))
    await asyncio.sleep(0)
    assert not asking.done()
    os.write(keyboard, b"s\n")
    assert await asking == ["yes"]


async def test_the_end_of_input_ends_the_run(keyboard: int) -> None:
    os.write(keyboard, b"\x04")
    assert await answers(1) == ["abort"]


async def test_a_terminal_that_is_gone_ends_the_run(keyboard: int) -> None:
    os.close(keyboard)
    assert await answers(1) == ["abort"]


async def test_what_is_no_text_is_no_answer(keyboard: int) -> None:
    os.write(keyboard, b"\xff\xfe\nyes\n")
    assert await answers(1) == ["yes"]
