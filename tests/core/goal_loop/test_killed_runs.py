"""A run that is killed goes on from its last finished step, and repeats no finished call."""

from __future__ import annotations

import asyncio
import errno
import itertools
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from retrai_core.agents.tool_call import CUT_OFF
from retrai_core.cli.main import main
from retrai_core.storage.checkpoints import Checkpoints
from retrai_core.workspace.temporary import temporary_prefix

from ..running import elsewhere

Runs = Any


def call(name: str, **args: Any) -> dict[str, Any]:
    """One turn that calls one tool."""
    return {"text": f"calling {name}", "calls": [{"name": name, "args": args}]}


def turns(second: dict[str, Any]) -> list[dict[str, Any]]:
    """Three turns that fix the project; `second` is the second call of the second one."""
    return [
        call("put", path="a.txt", text="one"),
        {
            "calls": [
                {"name": "put", "args": {"path": "b.txt", "text": "two"}, "id": "first"},
                {"id": "second", **second},
                {"name": "put", "args": {"path": "c.txt", "text": "three"}, "id": "third"},
            ]
        },
        call("shell", line="echo right > a.txt; echo fine > b.txt"),
    ]


TURN_TOKENS = 15
"""What the model `turns` uses for an answer; it costs 0.015 dollars."""
HANG: dict[str, Any] = {"name": "hang", "args": {}}
WRITE: dict[str, Any] = {"name": "put", "args": {"path": "d.txt", "text": "four"}}


async def start_and_kill(
    runs: Runs, when: Path, played: list[dict[str, Any]], **settings: Any
) -> str:
    """Start a run in a process of its own and kill it when `when` appears; the run's id."""
    settings = {"tools": ["put", "hang", "shell"], "goal": "expected-text"} | settings
    config = runs.config(played, **settings)
    async with elsewhere(runs.store, config) as driver:
        path = runs.store.folder(config.run_id) / when
        while not path.exists():
            assert driver.returncode is None, "the run ended before it could be killed"
            await asyncio.sleep(0.02)
        driver.kill()
    return config.run_id


async def test_a_call_that_was_cut_off_is_told_and_no_finished_call_is_repeated(runs: Runs) -> None:
    run_id = await start_and_kill(runs, Path("hanging"), turns(HANG))
    killed = await runs.store.load(run_id)
    assert (killed.status, killed.reason) == ("interrupted", "its process was killed")
    folder = runs.store.folder(run_id)
    assert (folder / "put").read_text().split() == ["a.txt", "b.txt"]

    ended = await runs.resume(run_id)
    assert ended.status == "achieved"
    assert (folder / "put").read_text().split() == ["a.txt", "b.txt", "c.txt"]
    resumed = [e.payload for e in runs.events(ended, "tool_result")]
    by_id = {payload["id"]: payload for payload in resumed}
    assert by_id["first"]["replayed"]
    assert by_id["second"]["content"] == CUT_OFF
    assert any(CUT_OFF in told for told in runs.seen(ended)[-1])
    # One baseline for both processes: the second loads it.
    assert sum(e.payload["phase"] == "baseline" for e in runs.events(ended, "goal_check")) == 1


async def test_the_record_of_a_killed_run_says_how_far_it_came(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    push = call("shell", line="git push")
    steps = [
        {"calls": push["calls"] * 2},
        call("put", path="expected.txt", text="mine"),
        call("hang"),
        call("put", path="a.txt", text="right\n"),
    ]
    asking = {"plugins": {"asks": {"about": "shell"}}, "max_iterations": 3}
    run_id = await start_and_kill(runs, Path("hanging"), steps, **asking)
    killed = await runs.store.load(run_id)
    assert (killed.status, killed.iterations) == ("interrupted", 2)
    assert killed.tokens.total == 3 * TURN_TOKENS
    assert killed.cost_usd == pytest.approx(3 * TURN_TOKENS / 1000)
    log = runs.events(killed)
    assert killed.started_at is not None
    assert killed.ended_at == log[-1].ts
    assert killed.worked_s == pytest.approx(log[-1].ts - killed.started_at)
    assert (
        killed.evidence.after.reason
        == [e for e in log if e.kind == "goal_check"][-1].payload["reason"]
    )
    refused = killed.refused
    assert [line.split()[0] for line in refused] == ["shell", "expected.txt"]
    monkeypatch.setenv("RETRAI_STATE_DIR", str(runs.store.state))
    assert await asyncio.to_thread(main, ["runs", "list"]) == 0
    assert await asyncio.to_thread(main, ["runs", "show", run_id]) == 0

    ended = await runs.resume(run_id, max_iterations=9)
    assert (ended.status, ended.iterations) == ("achieved", 4)
    assert ended.refused == refused
    assert ended.tokens.total == 4 * TURN_TOKENS
    assert ended.worked_s > killed.worked_s


@pytest.mark.parametrize("when", ["checks", "checkpoint.sqlite", "seen.jsonl", "journal.jsonl"])
async def test_a_run_killed_early_ends_as_the_unkilled_one(runs: Runs, when: str) -> None:
    run_id = await start_and_kill(runs, Path(when), turns(WRITE))
    while not (
        await runs.store.load(run_id)
    ).resumable:  # on a busy machine it had ended before the kill
        (runs.project / "a.txt").write_text("wrong\n")
        run_id = await start_and_kill(runs, Path(when), turns(WRITE))
    ended = await runs.resume(run_id)
    # The kill may have hit any call: one that was cut off is told to the model, not repeated. Where
    # it was the one that makes the check pass, the model has to make it once more.
    cut_off = [e for e in runs.events(ended, "tool_result") if e.payload["content"] == CUT_OFF]
    assert len(cut_off) <= 1
    assert ended.status == "achieved"
    deciding = any(event.payload["tool"] == "shell" for event in cut_off)
    assert ended.iterations in ((3, 4) if deciding else (3,))
    if not cut_off:
        assert (runs.project / "c.txt").read_text() == "three"
    written = (runs.store.folder(run_id) / "put").read_text().split()
    assert sorted(set(written)) == sorted(written)
    journal = (runs.store.folder(run_id) / "journal.jsonl").read_text().splitlines()
    begun = [entry["call"] for line in journal if "begin" in (entry := json.loads(line))]
    assert len(begun) == len(set(begun))


async def test_a_run_removes_what_an_earlier_one_s_process_left(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = tmp_path / "temporary"
    room.mkdir()
    prefix = temporary_prefix("retrai-final").replace(f"-{os.getpid()}.", "-99999999.")
    (room / f"{prefix}x").mkdir()  # no process has such a number
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    await runs.run([call("put", path="a.txt", text="one")])
    assert list(room.iterdir()) == []


async def test_a_run_killed_after_its_last_iteration_ends_as_it_would_have(runs: Runs) -> None:
    record = await runs.run([call("look", path="a.txt")], max_iterations=1)
    assert (record.status, record.iterations) == ("failed", 1)
    record.status, record.reason = "running", ""
    record.save(runs.store.folder(record.id))
    ended = await runs.resume(record.id)
    assert (ended.status, ended.iterations) == ("failed", 1)
    assert ended.next_step.startswith(f"retrai runs resume {record.id} -n 21")


LOOK = {"calls": [{"name": "look", "args": {"path": "b.txt"}}]}
MEND = {"calls": [{"name": "put", "args": {"path": "a.txt", "text": "right\n"}}]}
STEPS = 11
"""Checkpoints of a run of three turns: its input, what it begins with, and three steps a turn."""
QUESTION_ON_ITS_WAY = (5, 8)
"""Those of the evaluations that another turn follows."""


@pytest.mark.parametrize("lost", range(1, STEPS + 1))
async def test_a_step_whose_checkpoint_was_lost_is_taken_up_from_its_writes(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    puts = itertools.count(1)
    put = Checkpoints.put

    def full(self: Checkpoints, *given: Any) -> Any:
        if next(puts) == lost:
            raise OSError(errno.ENOSPC, "No space left on device")
        return put(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(Checkpoints, "put", full)
        first = await runs.run([LOOK, LOOK, MEND])
    assert first.status == "error"
    record = await runs.resume(first.id)
    assert record.status == "achieved"
    assert record.evidence.after is not None
    assert record.evidence.after.achieved
    asked = runs.events(record, "llm_usage")
    assert record.tokens.total == sum(event.payload["total_tokens"] for event in asked)
    # After an evaluation the next question may have been on its way; no other is asked twice.
    assert len(asked) in ((3, 4) if lost in QUESTION_ON_ITS_WAY else (3,))
    results = [event.payload for event in runs.events(record, "tool_result")]
    assert sorted(one["tool"] for one in results if not one["replayed"]) == ["look", "look", "put"]
