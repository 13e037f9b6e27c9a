"""Two that want to start the same run: one does, the other is told, and nothing is lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from retrai_core.errors import UsageError, WorkspaceLockedError
from retrai_core.run_manager import RunManager

Runs = Any
HANG = {"calls": [{"name": "hang", "args": {}}]}


async def going(runs: Runs, manager: RunManager) -> tuple[str, asyncio.Task[Any]]:
    """A run that has begun and hangs in a call: its id and its task."""
    record = await manager.create(runs.config([HANG], tools=["hang"]))
    hears = manager.bus(record.id).subscribe()
    task = asyncio.create_task(manager.start(record.id))
    async for event in hears:
        if event.kind == "tool_call":
            break
    return record.id, task


@pytest.mark.parametrize("again", ["start", "resume"])
async def test_a_run_that_is_under_way_is_not_started_again(runs: Runs, again: str) -> None:
    manager = RunManager(runs.store)
    run_id, task = await going(runs, manager)
    with pytest.raises(UsageError, match=run_id):
        await getattr(manager, again)(run_id)
    with pytest.raises((UsageError, WorkspaceLockedError), match=run_id):
        await getattr(RunManager(runs.store), again)(run_id)
    assert runs.store.load(run_id).status == "running"
    assert manager.cancel(run_id)
    assert (await task).status == "interrupted"


async def test_of_two_starts_at_once_one_works_and_the_record_stays(runs: Runs) -> None:
    first, second = RunManager(runs.store), RunManager(runs.store)
    mend = {"calls": [{"name": "put", "args": {"path": "a.txt", "text": "right"}}]}
    record = await first.create(runs.config([mend]))
    asked = [first.start(record.id), second.start(record.id), first.start(record.id)]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    ended = [answer for answer in answers if not isinstance(answer, BaseException)]
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    assert [record.status for record in ended] == ["achieved"]
    assert {type(error) for error in refused} <= {UsageError, WorkspaceLockedError}
    assert runs.store.load(record.id).status == "achieved"
    with pytest.raises(UsageError, match="begun already: achieved"):
        await second.start(record.id)


async def test_a_run_made_for_a_busy_project_leaves_nothing_behind(runs: Runs) -> None:
    manager = RunManager(runs.store)
    run_id, task = await going(runs, manager)
    other = await manager.create(runs.config([HANG], tools=["hang"]))
    with pytest.raises(WorkspaceLockedError, match=run_id):
        await manager.start(other.id)
    assert [record.id for record in runs.store.list()] == [run_id]
    manager.cancel(run_id)
    await task


async def test_resuming_a_run_that_works_elsewhere_changes_nothing_of_it(runs: Runs) -> None:
    run_id, task = await going(runs, manager := RunManager(runs.store))
    before = (runs.store.folder(run_id) / "run.json").read_bytes()
    with pytest.raises(WorkspaceLockedError):
        await RunManager(runs.store).resume(run_id, max_iterations=77)
    assert (runs.store.folder(run_id) / "run.json").read_bytes() == before
    manager.cancel(run_id)
    await task
