"""Two that want to work on the same run: one does, the other is told, and nothing is lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from retrai_core import FilesStore, RunManager, RunRecord, RunRequest
from retrai_core.errors import UsageError, WorkspaceLockedError

from ..running import reached, resumed, submitted

Runs = Any
HANG = {"calls": [{"name": "hang", "args": {}}]}
MEND = {"calls": [{"name": "put", "args": {"path": "a.txt", "text": "right"}}]}


async def test_a_run_that_is_under_way_is_not_started_again(runs: Runs) -> None:
    async with submitted(runs.store, runs.config([HANG], tools=["hang"])) as run:
        await reached(run, "tool_call")
        before = (run.folder / "run.json").read_bytes()
        with pytest.raises(UsageError, match=run.id):
            await run.resume()
        with pytest.raises(UsageError, match=run.id):
            await resumed(FilesStore(state=runs.store.state), run.id, max_iterations=77)
        assert (run.folder / "run.json").read_bytes() == before
        assert (await run.record()).status == "running"
        assert await run.cancel("interrupted")
        assert (await run.result()).status == "interrupted"


async def test_of_two_that_resume_at_once_one_works_and_the_record_stays(runs: Runs) -> None:
    record = await runs.stopped_at("hang", [HANG, MEND], tools=["hang", "put"])
    stores = [FilesStore(state=runs.store.state) for _ in range(3)]
    asked = [resumed(store, record.id) for store in stores]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    ended = [answer for answer in answers if isinstance(answer, RunRecord)]
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    assert [record.status for record in ended] == ["achieved"] * len(ended) != []
    assert all(isinstance(error, (UsageError, WorkspaceLockedError)) for error in refused)
    assert (await runs.store.load(record.id)).status == "achieved"
    assert (runs.store.folder(record.id) / "put").read_text() == "a.txt\n"
    with pytest.raises(UsageError, match="has ended: achieved"):
        await runs.resume(record.id)


async def test_of_two_that_take_up_what_waits_one_works(runs: Runs) -> None:
    async with RunManager(runs.store, "inline", max_parallel=0) as ended:
        waiting = await ended.submit(RunRequest(config=runs.config([MEND])))
    managers = [RunManager(FilesStore(state=runs.store.state), "inline") for _ in range(2)]
    for manager in managers:
        await manager.attach()
    found = [await manager.get(waiting.id) for manager in managers]
    answers = await asyncio.gather(*(run.result() for run in found), return_exceptions=True)
    for manager in managers:
        await manager.aclose()
    worked = [answer.status for answer in answers if isinstance(answer, RunRecord)]
    assert worked == ["achieved"] * len(worked) != []
    assert (runs.store.folder(waiting.id) / "put").read_text() == "a.txt\n"


async def test_a_run_made_for_a_busy_project_leaves_nothing_behind(runs: Runs) -> None:
    async with submitted(runs.store, runs.config([HANG], tools=["hang"])) as run:
        await reached(run, "tool_call")
        with pytest.raises(WorkspaceLockedError, match=run.id):
            await runs.run([HANG], tools=["hang"])
        assert [record.id for record in await runs.store.list()] == [run.id]
