"""What a player of recorded calls leaves is read whatever the project's code made of it."""

from __future__ import annotations

import shlex

import pytest

from retrai_core import RecordedCall
from retrai_goal_support import replays
from retrai_goal_support.replays import play_calls

from ..goal_bench import Bench, bench

__all__ = ["bench"]

CALL = RecordedCall("case", "f(1)", "2", replay="f(1)")


async def play(bench: Bench, line: str) -> list[RecordedCall]:
    """The answers, where this shell line leaves them in `answers`."""
    line = f'cd "$(dirname "$0")"; {line}'
    return await play_calls(
        bench.context.sandbox, ["sh", "-c", line], {}, [CALL], root=bench.project, timeout_s=60
    )


async def test_answers_are_those_of_the_player(bench: Bench) -> None:
    answers = '{"at": 0, "answer": "3"}\n{"call": "f(2)", "answer": "4"}\n{"at": 0, "ans'
    found = await play(bench, f"printf %s {shlex.quote(answers)} > answers")
    assert [(each.call, each.answer) for each in found] == [("f(1)", "3"), ("f(2)", "4")]


@pytest.mark.parametrize(
    "line",
    ["true", "mkdir answers", "ln -s answers answers", "ln -s /dev/zero answers", "mkfifo answers"],
)
async def test_what_is_no_regular_file_holds_no_answer(bench: Bench, line: str) -> None:
    assert await play(bench, line) == []


async def test_only_so_much_is_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replays, "MAX_BYTES", 60)
    line = 'for i in 1 2 3 4; do echo \'{"at": 0, "answer": "3"}\'; done > answers'
    assert len(await play(bench, line)) == 2
