"""The engine `process`: children that die, that outlive their manager, and the one that waits."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from retrai_core import FilesStore, Run, RunManager, RunRecord, RunRequest, UsageError
from retrai_core.errors import RetraiError, WorkspaceLockedError

from ..running import SITE, Runs, elsewhere, manager_for, reached, submitted

LOOK = {"calls": [{"name": "look", "args": {"path": "b.txt"}}]}
HANG = {"text": "and now wait", "calls": [{"name": "hang", "args": {}}]}
MEND = {"calls": [{"id": "p1", "name": "put", "args": {"path": "a.txt", "text": "right\n"}}]}
TOOLS = ["look", "hang", "put", "crash"]
WORKER = "retrai_core.runs.worker"


@pytest.fixture(autouse=True)
def _site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SITE))


@pytest.fixture
def projects(tmp_path: Path) -> list[Path]:
    """Three more projects like the first."""
    made = [tmp_path / f"project{number}" for number in range(3)]
    for folder in made:
        folder.mkdir()
        (folder / "expected.txt").write_text("a.txt: right\n")
        (folder / "a.txt").write_text("wrong\n")
    return made


def request(
    runs: Runs,
    turns: Sequence[dict[str, Any]],
    project: Path | None = None,
    *,
    interactive: bool = False,
    **plugins: Any,
) -> RunRequest:
    config = runs.config(turns, tools=TOOLS, plugins=plugins)
    if project is not None:
        config = config.model_copy(update={"cwd": project})
    return RunRequest(config=config, interactive=interactive)


def asking(runs: Runs, project: Path | None = None) -> RunRequest:
    """A run that asks a person before it fixes the project."""
    return request(runs, [LOOK, MEND], project, interactive=True, asks={"about": "put"})


def pid_of(runs: Runs, run: Run) -> int:
    """The process that holds a run's claim."""
    return json.loads((runs.store.folder(run.id) / "running.lock").read_text())["pid"]


def children() -> set[int]:
    """The workers that this process has started."""
    found: set[int] = set()
    for child in psutil.Process().children():
        try:
            if WORKER in child.cmdline():
                found.add(child.pid)
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return found


async def end_of(run: Run) -> RunRecord:
    async with asyncio.timeout(100):
        return await run.result()


async def answer_when_asked(run: Run, word: str) -> None:
    event = await reached(run, "human_check_required")
    assert await run.answer(event.payload["question"]["id"], word)


# children that die


async def test_a_killed_child_ends_its_run_as_interrupted_and_harms_no_other(
    runs: Runs, projects: list[Path]
) -> None:
    async with manager_for(runs.store, "process") as manager:
        other = await manager.submit(asking(runs, projects[0]))
        run = await manager.submit(request(runs, [LOOK, HANG, MEND]))
        await reached(other, "human_check_required")
        await reached(run, "tool_call", tool="hang")
        os.kill(pid_of(runs, run), signal.SIGKILL)
        record = await end_of(run)
        assert (record.status, record.exit_code, record.iterations) == ("interrupted", 130, 1)
        assert record.reason == "its process was killed (SIGKILL)"
        assert record.resumable
        assert record.tokens.total == 30
        events = await run.logged()
        assert [event.kind for event in events].count("tool_result") == 1
        assert (events[-1].kind, events[-1].payload["status"]) == ("run_end", "interrupted")
        assert [event async for event in run.events()] == events
        await answer_when_asked(other, "approve")
        assert (await end_of(other)).status == "achieved"
        await run.resume()
        assert (await end_of(run)).status == "achieved"


@pytest.mark.parametrize("code", [0, 3])
async def test_a_child_whose_plugin_ends_the_process_ends_its_run_as_interrupted(
    runs: Runs, projects: list[Path], code: int
) -> None:
    crash = {"calls": [{"name": "crash", "args": {"code": code}}]}
    async with manager_for(runs.store, "process") as manager:
        other = await manager.submit(asking(runs, projects[0]))
        run = await manager.submit(request(runs, [LOOK, crash]))
        record = await end_of(run)
        assert (record.status, record.resumable) == ("interrupted", True)
        assert record.reason == f"its process ended with exit code {code}"
        assert (await run.logged())[-1].payload["reason"] == record.reason
        assert "last words" in (run.folder / "worker.log").read_text()
        await answer_when_asked(other, "approve")
        assert (await end_of(other)).status == "achieved"


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGTERM, signal.SIGHUP]])
async def test_a_child_that_is_asked_to_end_ends_its_run_as_interrupted(
    runs: Runs, signals: list[signal.Signals]
) -> None:
    async with manager_for(runs.store, "process") as manager:
        run = await manager.submit(request(runs, [HANG, MEND]))
        await reached(run, "tool_call", tool="hang")
        for number in signals:
            os.kill(pid_of(runs, run), number)
        record = await end_of(run)
        assert (record.status, record.reason) == ("interrupted", "stopped before it was done")
        await run.resume()
        assert (await end_of(run)).status == "achieved"


# managers that go away


@pytest.mark.parametrize("word", ["approve", "abort"])
async def test_a_child_survives_its_killed_manager_and_is_answered_by_another(
    runs: Runs, word: str
) -> None:
    asked = asking(runs)
    async with elsewhere(runs.store, asked, engine="process") as process:
        await there_is(runs.store, asked.run_id)
        async with manager_for(runs.store, "process") as looking:
            await reached(await looking.get(asked.run_id), "human_check_required")
        process.kill()
        await process.wait()
    async with manager_for(runs.store, "process") as manager:
        run = await manager.get(asked.run_id)
        assert (await run.record()).status == "waiting"
        assert psutil.pid_exists(pid_of(runs, run))
        await manager.attach()
        await manager.attach()  # a second time changes nothing
        following = asyncio.ensure_future(all_events(run))
        await answer_when_asked(run, word)
        record = await end_of(run)
        events = await following
    assert record.status == ("achieved" if word == "approve" else "aborted")
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert (events[-1].kind, events[-1].payload["status"]) == ("run_end", record.status)


async def test_what_another_manager_sends_reaches_the_child(runs: Runs) -> None:
    async with manager_for(runs.store, "process") as first:
        made = await first.submit(request(runs, [HANG, MEND]))
        await reached(made, "tool_call", tool="hang")
    async with manager_for(runs.store, "process") as second:
        await second.attach()
        run = await second.get(made.id)
        await run.configure(max_iterations=5)
        await reached(run, "log", message="changed: max_iterations: 5")
        assert await run.cancel()
        record = await end_of(run)
    assert (record.status, record.limits.max_iterations) == ("aborted", 5)


async def test_a_manager_that_closes_waits_for_no_child_and_tells_who_waits(runs: Runs) -> None:
    async with manager_for(runs.store, "process") as manager:
        run = await manager.submit(request(runs, [HANG]))
        await reached(run, "tool_call", tool="hang")
        waiting = asyncio.ensure_future(run.result())
        await asyncio.sleep(0)
    with pytest.raises(UsageError, match=f"run {run.id} has not ended"):
        await waiting
    assert (await runs.store.load(run.id)).status == "running"
    async with manager_for(runs.store, "process") as another:
        again = await another.get(run.id)
        assert await again.cancel("interrupted")
        assert (await end_of(again)).status == "interrupted"


async def test_runs_above_the_limit_wait_also_for_those_of_an_earlier_manager(
    runs: Runs, projects: list[Path]
) -> None:
    async with manager_for(runs.store, "process", max_parallel=1) as earlier:
        first = await earlier.submit(request(runs, [HANG], projects[0]))
        made = [await earlier.submit(request(runs, [MEND], each)) for each in projects[1:]]
        await reached(first, "tool_call", tool="hang")
        assert [(await run.record()).status for run in made] == ["pending", "pending"]
    async with manager_for(runs.store, "process", max_parallel=1) as manager:
        await manager.attach()
        runs_now = [await manager.get(run.id) for run in (first, *made)]
        assert [manager.is_executing(run.id) for run in runs_now] == [True, False, False]
        await runs_now[0].cancel()
        ended = [await end_of(run) for run in runs_now]
    assert [record.status for record in ended] == ["aborted", "achieved", "achieved"]
    starts = [record.started_at for record in ended]
    assert starts == sorted(starts), "in the order in which they were submitted"


async def test_a_run_goes_on_as_soon_as_its_end_is_heard(runs: Runs) -> None:
    """Its process may still be closing its parts."""
    async with manager_for(runs.store, "process") as manager:
        run = await manager.submit(request(runs, [LOOK, LOOK, MEND]))
        await run.configure(max_iterations=1)
        async for event in run.events():
            last = event
        assert last.kind == "run_end"
        await run.resume(max_iterations=5)
        assert (await run.result()).status == "achieved"


async def test_a_run_that_somebody_has_just_taken_is_followed(runs: Runs) -> None:
    async with manager_for(runs.store, "process", max_parallel=0) as earlier:
        run_id = (await earlier.submit(request(runs, [MEND]))).id
    claim = await runs.store.claim(run_id, "the child of an earlier manager")
    assert claim is not None
    before = children()
    async with manager_for(runs.store, "process") as manager:
        await manager.attach()
        while not (new := children() - before):  # until the system shows what it executes
            await asyncio.sleep(0.02)
        (child,) = new
        run = await manager.get(run_id)
        waiting = asyncio.ensure_future(end_of(run))
        while child in children():  # until it has given up
            await asyncio.sleep(0.02)
        record = await runs.store.load(run_id)
        record.status, record.reason = "failed", "as the other one found"
        await runs.store.save(claim, record)
        await runs.store.release(claim)
        assert (await waiting).status == "failed"
        assert (await run.logged())[-1].kind == "run_end"


# what cannot begin


async def test_an_error_of_a_child_is_raised_whole_and_leaves_no_run(runs: Runs) -> None:
    async with submitted(runs.store, request(runs, [HANG]).config) as first:
        await reached(first, "tool_call")
        async with manager_for(runs.store, "process") as manager:
            second = await manager.submit(request(runs, [MEND]))
            with pytest.raises(WorkspaceLockedError, match=first.id) as caught:
                await second.result()
            assert caught.value.holder == first.id
        assert [record.id for record in await runs.store.list()] == [first.id]


async def test_a_store_that_no_child_can_open_is_said(runs: Runs) -> None:
    class Elsewhere(FilesStore):
        name = "no-such-store"

    async with RunManager(Elsewhere(state=runs.store.state), "process") as manager:
        run = await manager.submit(request(runs, [MEND]))
        with pytest.raises(UsageError, match="no-such-store"):
            await end_of(run)
        assert (await run.record()).status == "error"


async def test_what_lies_in_the_current_folder_is_not_imported(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    (runs.project / "json.py").write_text("raise SystemExit('the project has the process')\n")
    monkeypatch.chdir(runs.project)
    async with manager_for(runs.store, "process") as manager:
        assert (await end_of(await manager.submit(request(runs, [MEND])))).status == "achieved"


async def test_children_that_cannot_be_started_end_their_runs(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "langgraph.py").write_text("raise ImportError('half installed')\n")
    monkeypatch.setenv("PYTHONPATH", f"{broken}:{SITE}")
    async with manager_for(runs.store, "process") as manager:
        run = await manager.submit(request(runs, [MEND]))
        record = await end_of(run)
    assert (record.status, record.reason) == ("error", "its process ended with exit code 1")
    asked = request(runs, [MEND])
    monkeypatch.setattr("sys.executable", str(tmp_path / "no-python"))
    async with manager_for(runs.store, "process") as manager:
        record = await end_of(await manager.submit(asked))
    assert record.status == "error"
    assert "no process can be started for it: No such file" in record.reason


# the child that waits


async def test_the_child_that_waits_is_used_and_replaced(runs: Runs, projects: list[Path]) -> None:
    before = children()
    async with manager_for(runs.store, "process") as manager:
        first = await manager.submit(asking(runs))
        await reached(first, "human_check_required")
        (spare,) = children() - before - {pid_of(runs, first)}
        second = await manager.submit(asking(runs, projects[0]))
        await reached(second, "human_check_required")
        assert pid_of(runs, second) == spare
        while len(children() - before) < 3:
            await asyncio.sleep(0.02)
        for run in (first, second):
            await answer_when_asked(run, "approve")
            assert (await end_of(run)).status == "achieved"
        assert len(children() - before) == 1
    assert children() == before


@pytest.mark.parametrize("when", ["before it is used", "with the job in its hands"])
async def test_a_killed_spare_does_no_harm(runs: Runs, projects: list[Path], when: str) -> None:
    before = children()
    async with manager_for(runs.store, "process") as manager:
        first = await manager.submit(request(runs, [MEND]))
        assert (await end_of(first)).status == "achieved"
        (spare,) = children() - before
        if when == "before it is used":
            os.kill(spare, signal.SIGKILL)
            second = await manager.submit(request(runs, [MEND], projects[0]))
        else:
            os.kill(spare, signal.SIGSTOP)
            second = await manager.submit(request(runs, [MEND], projects[0]))
            os.kill(spare, signal.SIGKILL)
        assert (await end_of(second)).status == "achieved"
        assert pid_of(runs, second) != spare
    assert children() == before


async def test_a_killed_spare_keeps_no_run_from_going_on(runs: Runs) -> None:
    before = children()
    async with manager_for(runs.store, "process") as manager:
        run = await manager.submit(request(runs, [HANG, MEND]))
        await reached(run, "tool_call", tool="hang")
        await run.cancel("interrupted")
        assert (await end_of(run)).status == "interrupted"
        (spare,) = children() - before
        os.kill(spare, signal.SIGSTOP)
        await run.resume()
        os.kill(spare, signal.SIGKILL)
        assert (await end_of(run)).status == "achieved"


async def test_a_run_that_cannot_go_on_for_want_of_a_process_says_so(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stopped = await runs.stopped_at("hang", [HANG, MEND], tools=TOOLS)
    monkeypatch.setattr("sys.executable", str(tmp_path / "no-python"))
    async with manager_for(runs.store, "process") as manager:
        run = await manager.get(stopped.id)
        await run.resume()
        with pytest.raises(RetraiError, match=f"run {run.id} did not go on: no process can be"):
            await end_of(run)
        assert (await run.record()).status == "interrupted"


async def test_a_spare_ends_with_its_killed_manager(runs: Runs) -> None:
    asked = asking(runs)
    async with elsewhere(runs.store, asked, engine="process") as process:
        await there_is(runs.store, asked.run_id)
        async with manager_for(runs.store, "process") as manager:
            run = await manager.get(asked.run_id)
            await reached(run, "human_check_required")
            started = psutil.Process(process.pid).children()
            (spare,) = [child for child in started if child.pid != pid_of(runs, run)]
            process.kill()
            await process.wait()
            await asyncio.to_thread(spare.wait, 60)
            assert await run.cancel()
            await end_of(run)


# the model's text


async def test_the_text_of_a_child_s_model_is_heard_here(runs: Runs) -> None:
    turns = [LOOK | {"text": f"thought {number}"} for number in range(4)]
    asked = request(runs, [*turns, MEND], interactive=True, asks={"about": "look"})
    async with manager_for(runs.store, "process") as manager:
        run = await manager.submit(asked)

        async def hear() -> list[str]:
            return [delta.text async for delta in run.deltas()]

        hearing = asyncio.ensure_future(hear())
        async with asyncio.timeout(100):
            async for event in run.events():
                if event.kind == "human_check_required":
                    assert await run.answer(event.payload["question"]["id"], "allow_once")
            heard = await hearing  # it ends with the run
    assert "thought 3" in heard


async def all_events(run: Run) -> list[Any]:
    return [event async for event in run.events()]


async def there_is(store: FilesStore, run_id: str) -> None:
    """Wait until the run has been made."""
    async with asyncio.timeout(60):
        while True:
            try:
                await store.load(run_id)
            except RetraiError:
                await asyncio.sleep(0.02)
            else:
                return
