"""`max_time` bounds the work of a run; what was done is kept, and the run can go on."""

from __future__ import annotations

import asyncio
from typing import Any

import psutil
import pytest

from retrai_core.agents.deadline import Deadline, OutOfTimeError
from retrai_core.contracts.record import RunRecord

Runs = Any

LIMITS_S = (1.5, 10, 60)
"""The next one where the run had not come to what hangs before its time was over."""


def call(name: str, **args: Any) -> dict[str, Any]:
    """One turn that calls one tool."""
    return {"text": f"calling {name}", "calls": [{"name": name, "args": args}]}


MEND = call("put", path="a.txt", text="right\n")
NOTE = call("put", path="note.txt", text="kept\n")


async def run_until_it_hangs(runs: Runs, turns: list[Any], **settings: Any) -> RunRecord:
    """A run whose time is over in what hangs, which has left its mark in `hanging`."""
    for limit_s in LIMITS_S:
        record = await runs.run(turns, max_time_s=limit_s, **settings)
        assert (record.status, record.exit_code) == ("budget", 6), record.reason
        if (runs.store.folder(record.id) / "hanging").exists():
            assert f"{limit_s:g} s (`max_time`)" in record.reason
            assert record.next_step == f"retrai runs resume {record.id} --max-time {more(limit_s)}"
            return record
    raise AssertionError("nothing hung")


def more(limit_s: float) -> int:
    return int(max(60, 2 * limit_s))


def processes_of(runs: Runs, record: RunRecord) -> list[int]:
    """What hung and is still there."""
    marks = (runs.store.folder(record.id) / "hanging").read_text().split()
    return [int(pid) for pid in marks if psutil.pid_exists(int(pid))]


async def test_a_tool_that_never_returns_ends_with_the_time_and_nothing_is_lost(
    runs: Runs,
) -> None:
    record = await run_until_it_hangs(runs, [NOTE, call("hang"), MEND], tools=["hang", "put"])
    assert record.iterations == 1
    assert "note.txt" in record.changed_files
    assert record.tokens.total == 15 * len(runs.events(record, "llm_usage"))
    ended = await runs.resume(record.id, max_time_s="none")
    assert (ended.status, ended.needed) == ("achieved", None)
    assert (runs.project / "note.txt").read_text() == "kept\n"
    assert (runs.store.folder(record.id) / "put").read_text() == "note.txt\na.txt\n"
    assert any("was stopped while this call ran" in words for words in runs.seen(ended)[-1])
    assert ended.tokens.total == 15 * len(runs.events(ended, "llm_usage"))


async def test_a_command_that_ignores_its_end_does_not_outlive_the_run(runs: Runs) -> None:
    marks = runs.store.state / "runs"
    line = f"trap '' TERM; for run in {marks}/*; do echo $$ >> $run/hanging; done; sleep 1000"
    record = await run_until_it_hangs(runs, [call("shell", line=line)])
    assert processes_of(runs, record) == []


@pytest.mark.parametrize(
    "number", [1, 2, 3, 4], ids=["baseline", "iteration", "on a clean copy", "confirmation"]
)
async def test_a_check_that_hangs_ends_with_the_time(runs: Runs, number: int) -> None:
    options = {"hanging_checks": [number]}
    record = await run_until_it_hangs(runs, [MEND], options=options, confirm=2)
    assert processes_of(runs, record) == []
    assert (runs.project / "a.txt").read_text() == ("wrong\n" if number == 1 else "right\n")
    ended = await runs.resume(record.id, max_time_s=600)
    assert ended.status == "achieved", ended.reason


@pytest.mark.parametrize("asks", [0, 2], ids=["the agent's model", "a judge's"])
async def test_a_model_that_never_answers_ends_with_the_time(runs: Runs, asks: int) -> None:
    record = await run_until_it_hangs(runs, [{"hangs": True}], options={"asks": asks})
    assert runs.events(record, "llm_usage") == []


async def passing(limit_s: float) -> None:
    """Wait until a limit that began before is over."""
    over = asyncio.Event()
    asyncio.get_running_loop().call_later(limit_s, over.set)
    await over.wait()


async def test_waiting_for_a_person_does_not_count(runs: Runs) -> None:
    asked: list[float] = []

    async def ask(question: Any) -> str:
        await passing(limit_s)  # while a person thinks
        asked.append(limit_s)
        return "yes"

    looks = call("look", path="b.txt")
    for limit_s in LIMITS_S:
        asked.clear()
        (runs.project / "a.txt").write_text("wrong\n")
        record = await runs.run([looks, MEND], ask, hitl_enabled=True, max_time_s=limit_s)
        if record.status != "budget":
            break
    assert record.status == "achieved", record.reason
    assert asked
    assert record.worked_s > limit_s


async def test_a_deadline_does_not_stand_in_for_whoever_cancels() -> None:
    deadline = Deadline(1000)
    begun = asyncio.Event()

    async def work() -> None:
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(deadline.bound(work()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not deadline.has_passed


async def test_questions_side_by_side_are_counted_once() -> None:
    limit_s = 0.5
    deadline = Deadline(limit_s)

    async def work() -> str:
        first, second = deadline.paused(), deadline.paused()
        with first, second:
            await passing(limit_s)
        return "done"

    assert await deadline.bound(work()) == "done"
    with pytest.raises(OutOfTimeError):
        await deadline.bound(asyncio.Event().wait())
