"""A run that is killed goes on from its last finished step, and repeats no finished call."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from retrai_core.loop.tool_call import CUT_OFF
from retrai_core.run_manager import RunManager
from retrai_core.workspace.temporary import temporary_prefix

Runs = Any
SITE = Path(__file__).parent / "site"

DRIVER = """
import asyncio, sys
from pathlib import Path
from retrai_core.run_manager import RunManager
from retrai_core.runs.store import RunStore

asyncio.run(RunManager(RunStore(Path(sys.argv[1]))).start(sys.argv[2]))
"""


def call(name: str, **args: Any) -> dict[str, Any]:
    """One turn that calls one tool."""
    return {"text": f"calling {name}", "calls": [{"name": name, "args": args}]}


def turns(second: dict[str, Any]) -> list[dict[str, Any]]:
    """Three turns that mend the project; `second` is the second call of the second one."""
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


HANG: dict[str, Any] = {"name": "hang", "args": {}}
WRITE: dict[str, Any] = {"name": "put", "args": {"path": "d.txt", "text": "four"}}


async def start_and_kill(runs: Runs, when: Path, second: dict[str, Any]) -> str:
    """Start a run in a process of its own and kill it when `when` appears; the run's id."""
    record = await RunManager(runs.store).create(
        runs.config(turns(second), tools=["put", "hang", "shell"], goal="expected-text")
    )
    env = os.environ | {"PYTHONPATH": str(SITE)}
    command = [sys.executable, "-c", DRIVER, str(runs.store.state), record.id]
    driver = await asyncio.create_subprocess_exec(*command, env=env)
    path = runs.store.folder(record.id) / when
    while not path.exists():
        assert driver.returncode is None, "the run ended before it could be killed"
        await asyncio.sleep(0.02)
    driver.kill()
    await driver.wait()
    return record.id


async def test_a_call_that_was_cut_off_is_told_and_no_finished_call_is_repeated(runs: Runs) -> None:
    run_id = await start_and_kill(runs, Path("hanging"), HANG)
    killed = runs.store.load(run_id)
    assert (killed.status, killed.reason) == ("interrupted", "its process was killed")
    folder = runs.store.folder(run_id)
    assert (folder / "put").read_text().split() == ["a.txt", "b.txt"]

    ended = await RunManager(runs.store).resume(run_id)
    assert ended.status == "achieved"
    assert (folder / "put").read_text().split() == ["a.txt", "b.txt", "c.txt"]
    resumed = [e.payload for e in runs.events(ended, "tool_result")]
    by_id = {payload["id"]: payload for payload in resumed}
    assert by_id["first"]["replayed"]
    assert by_id["second"]["content"] == CUT_OFF
    assert any(CUT_OFF in told for told in runs.seen(ended)[-1])
    # One baseline for both processes: the second loads it.
    assert sum(e.payload["phase"] == "baseline" for e in runs.events(ended, "goal_check")) == 1


@pytest.mark.parametrize("when", ["checks", "checkpoint.sqlite", "seen.jsonl", "journal.jsonl"])
async def test_a_run_killed_early_ends_as_the_unkilled_one(runs: Runs, when: str) -> None:
    run_id = await start_and_kill(runs, Path(when), WRITE)
    ended = await RunManager(runs.store).resume(run_id)
    assert (ended.status, ended.iterations) == ("achieved", 3)
    # The kill may have hit any call: one that was cut off is told to the model, not repeated.
    cut_off = [e for e in runs.events(ended, "tool_result") if e.payload["content"] == CUT_OFF]
    assert len(cut_off) <= 1
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
