"""What a run has left is read, and taken back, through its handle."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from retrai_core import RunRecord, RunRequest, UsageError

from ..running import Runs, manager_for, reached, submitted

LOOK = {"calls": [{"id": "l1", "name": "look", "args": {"path": "b.txt"}}]}
HANG = {"calls": [{"name": "hang", "args": {}}]}
HALF = {"calls": [{"id": "h1", "name": "put", "args": {"path": "new.txt", "text": "half\n"}}]}
MEND = {"calls": [{"id": "p1", "name": "put", "args": {"path": "a.txt", "text": "right\n"}}]}


def applied(patch: str, folder: Path) -> None:
    subprocess.run(["git", "apply"], input=patch.encode(), cwd=folder, check=True)


async def test_what_a_run_has_changed_is_shown_and_can_be_applied(
    runs: Runs, tmp_path: Path
) -> None:
    record = await runs.run([HALF, MEND])
    async with manager_for(runs.store) as manager:
        run = await manager.get(record.id)
        whole, since, until = await run.diff(), await run.diff(since=1), await run.diff(until=1)
        patch = await run.patch()
    assert all(line in whole for line in ("+right", "-wrong", "+half"))
    assert ("+half" in since, "+right" in since) == (False, True)
    assert ("+half" in until, "+right" in until) == (True, False)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.txt").write_text("wrong\n")
    applied(patch, elsewhere)
    assert (elsewhere / "a.txt").read_text() == "right\n"
    assert (elsewhere / "new.txt").read_text() == "half\n"


async def test_what_a_run_has_changed_is_shown_while_it_works(runs: Runs) -> None:
    config = runs.config([HALF, HANG], tools=["put", "hang"])
    async with submitted(runs.store, config) as run:
        await reached(run, "tool_call", tool="hang")
        assert "+half" in await run.diff()


async def test_an_undo_says_first_what_it_would_do(runs: Runs) -> None:
    record = await runs.run([HALF, MEND])
    async with manager_for(runs.store) as manager:
        run = await manager.get(record.id)
        would = await run.undo(dry_run=True)
        assert (runs.project / "a.txt").read_text() == "right\n"
        done = await run.undo()
    assert would == done
    assert (list(done.restored), list(done.removed)) == (["a.txt"], ["new.txt"])
    assert (runs.project / "a.txt").read_text() == "wrong\n"
    assert not (runs.project / "new.txt").exists()


async def test_an_undo_goes_back_to_an_iteration_and_keeps_later_changes(runs: Runs) -> None:
    record = await runs.run([HALF, MEND])
    (runs.project / "b.txt").write_text("mine\n")
    async with manager_for(runs.store) as manager:
        await (await manager.get(record.id)).undo(to=1)
    assert (runs.project / "a.txt").read_text() == "wrong\n"
    assert (runs.project / "new.txt").read_text() == "half\n"
    assert (runs.project / "b.txt").read_text() == "mine\n"


async def test_the_whole_result_of_a_call_can_be_fetched(runs: Runs) -> None:
    burst = {"calls": [{"id": "b1", "name": "burst", "args": {"chars": 2000}}]}
    record = await runs.run([burst, MEND], tools=["burst", "put"])
    [told, _] = runs.events(record, "tool_result")
    async with manager_for(runs.store) as manager:
        run = await manager.get(record.id)
        result = await run.tool_result("b1")
        assert await run.tool_result("no-such-call") is None
    assert result is not None
    assert result.ok
    assert len(result.content) > len(told.payload["content"]) == 500
    assert result.content.startswith(told.payload["content"])


async def test_what_a_run_has_not_kept_is_none(runs: Runs) -> None:
    record = await runs.run([LOOK], max_iterations=1)
    async with manager_for(runs.store) as manager:
        run = await manager.get(record.id)
        assert await run.artifact("no-such.json") is None
        with pytest.raises(UsageError):
            await run.artifact("../run.json")


@pytest.fixture
async def several(runs: Runs, tmp_path: Path) -> list[RunRecord]:
    """Three runs that have ended, in two projects, the oldest first."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "expected.txt").write_text("a.txt: right\n")
    (other / "a.txt").write_text("wrong\n")
    made: list[RunRecord] = []
    asked: list[tuple[list[Any], Path, dict[str, str]]] = [
        ([LOOK], runs.project, {"team": "shop"}),
        ([MEND], runs.project, {"team": "shop", "kind": "nightly"}),
        ([MEND], other, {}),
    ]
    async with manager_for(runs.store) as manager:
        for turns, project, labels in asked:
            config = runs.config(turns, max_iterations=1).model_copy(update={"cwd": project})
            run = await manager.submit(RunRequest(config=config, labels=labels))
            made.append(await run.result())
    return made


async def test_runs_are_listed_newest_first_by_what_is_asked(
    runs: Runs, several: list[RunRecord]
) -> None:
    failed, fixed, other = (record.id for record in several)

    async with manager_for(runs.store) as manager:

        async def ids(**asked: Any) -> list[str]:
            return [run.id for run in await manager.list(**asked)]

        assert await ids() == [other, fixed, failed]
        assert await ids(limit=2) == [other, fixed]
        assert await ids(project=runs.project) == [fixed, failed]
        assert await ids(project=str(runs.project / "..")) == []
        assert await ids(status="achieved") == [other, fixed]
        assert await ids(status="achieved", project=runs.project) == [fixed]
        assert await ids(goal="expected-text", limit=1) == [other]
        assert await ids(goal="pytest") == []
        assert await ids(labels={"team": "shop"}) == [fixed, failed]
        assert await ids(labels={"team": "shop", "kind": "nightly"}) == [fixed]
        assert await ids(text=fixed[:8]) == [fixed]
        assert await ids(text="ITERATION USED UP") == [failed]
        assert await ids(before=several[1].created_at) == [failed]
        assert await ids(before=several[1].created_at, limit=5, status="achieved") == []


async def test_a_verdict_is_given_without_a_run(runs: Runs) -> None:
    async with manager_for(runs.store) as manager:
        request = RunRequest(config=runs.config([]))
        first = await manager.check(request, final=False)
        assert (first.achieved, dict(first.counts)) == (False, {"failed": 1, "passed": 1})
        assert "evidence" not in repr(first), "it is long"
        (runs.project / "a.txt").write_text("right\n")
        assert (await manager.check(request, baseline=first)).achieved
    assert await runs.store.list() == []


async def test_pruning_leaves_what_goes_on_and_what_can_be_gone_on_with(
    runs: Runs, several: list[RunRecord]
) -> None:
    failed, fixed, other = (record.id for record in several)
    async with manager_for(runs.store, max_parallel=0) as manager:
        waiting = await manager.submit(RunRequest(config=runs.config([MEND])))
        pruned = await manager.prune(keep=1)
        assert (set(pruned.removed), pruned.spared) == ({failed, fixed}, [])
        pruned = await manager.prune(keep=0)
        assert (pruned.removed, pruned.spared) == ([other], [waiting.id])
        assert [run.id for run in await manager.list()] == [waiting.id]
        assert (await manager.prune(keep=0, unfinished=True)).removed == [waiting.id]


async def test_a_project_is_looked_at_without_a_run(runs: Runs) -> None:
    (runs.project / ".retrai.yml").write_text("max_iterations: 7\n")
    async with manager_for(runs.store) as manager:
        found = await manager.detect(runs.project)
        assert (found[0].name, found[0].evidence) == ("expected-text", "expected.txt")
        options = await manager.goal_options(found[0].name, runs.project)
        assert options["type"] == "object"
        settings = {each.name: each for each in await manager.settings(runs.project)}
        assert settings["max_iterations"].value == 7
        assert settings["max_iterations"].origin.endswith(".retrai.yml")
        assert settings["hitl_enabled"].origin == "default"


async def test_a_project_without_a_memory_store_has_nothing_to_look_into(runs: Runs) -> None:
    (runs.project / ".retrai.yml").write_text("memory: none\n")
    async with manager_for(runs.store) as manager:
        with pytest.raises(UsageError, match="no memory store"):
            async with manager.memory(runs.project):
                pass
