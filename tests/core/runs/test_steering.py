"""A run is configured, stopped and queued from outside, and depends on nobody who awaits it."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from pathlib import Path
from typing import Any

import pytest

from retrai_core import (
    Cancel,
    Claim,
    FilesStore,
    Run,
    RunManager,
    RunNotFoundError,
    RunRequest,
    TextDelta,
    UsageError,
)
from retrai_core.errors import WorkspaceLockedError

from ..running import Runs, elsewhere, manager_for, reached, submitted

LOOK = {"calls": [{"name": "look", "args": {"path": "b.txt"}}]}
HANG = {"calls": [{"name": "hang", "args": {}}]}
MEND = {"calls": [{"id": "p1", "name": "put", "args": {"path": "a.txt", "text": "right\n"}}]}

MEND_A_LITTLE = {"calls": [{"name": "put", "args": {"path": "a.txt", "text": "half\n"}}]}


def steps(count: int) -> list[dict[str, Any]]:
    """Turns that each change something, and never fix the project."""
    put = {"name": "put", "args": {"path": "a.txt", "text": "wrong"}}
    return [{"calls": [put | {"args": put["args"] | {"text": str(n)}}]} for n in range(count)]


def request(runs: Runs, turns: list[Any], project: Path | None = None, **more: Any) -> RunRequest:
    config = runs.config(turns, **more)
    if project is not None:
        config = config.model_copy(update={"cwd": project})
    return RunRequest(config=config)


@pytest.fixture
def projects(runs: Runs, tmp_path: Path) -> list[Path]:
    """Three more projects like the first."""
    made = [tmp_path / f"project{number}" for number in range(3)]
    for folder in made:
        folder.mkdir()
        (folder / "expected.txt").write_text("a.txt: right\n")
        (folder / "a.txt").write_text("wrong\n")
    return made


# configure


async def test_a_limit_is_lowered_while_the_run_goes_on(runs: Runs) -> None:
    config = runs.config([*steps(1), HANG, *steps(20)], tools=["hang", "put"], max_iterations=20)
    config = config.model_copy(update={"plugins": config.plugins | {"hang": {"limit_s": 1.0}}})
    async with submitted(runs.store, config) as run:
        await reached(run, "tool_call", tool="hang")
        await run.configure(max_iterations=3)
        record = await run.result()
    assert (record.status, record.iterations, record.limits.max_iterations) == ("failed", 3, 3)
    assert record.reason.startswith("3 iterations used up")


async def test_a_person_is_asked_from_the_next_iteration_on(runs: Runs) -> None:
    config = runs.config([HANG, *steps(1), MEND], tools=["hang", "put"])
    config = config.model_copy(update={"plugins": config.plugins | {"hang": {"limit_s": 1.0}}})
    async with submitted(runs.store, config) as run:
        await reached(run, "tool_call", tool="hang")
        await run.configure(hitl_enabled=True)
        event = await reached(run, "human_check_required")
        assert event.payload["question"]["kind"] == "iteration"
        assert await run.answer(event.payload["question"]["id"], "allow_always")
        record = await run.result()
    assert (record.status, record.interactive) == ("achieved", True)


async def test_the_model_is_another_from_the_next_iteration_on(runs: Runs) -> None:
    config = runs.config([MEND_A_LITTLE, MEND], plugins={"asks": {"about": "put"}})
    async with submitted(runs.store, config, interactive=True) as run:
        asked = await reached(run, "human_check_required")
        await run.configure(model="turns-two", temperature=0.5)
        await reached(run, "log", message="changed: model_name: turns-two, temperature: 0.5")
        assert await run.answer(asked.payload["question"]["id"], "allow_always")
        record = await run.result()
    used = [event.payload["model"] for event in runs.events(record, "llm_usage")]
    assert (record.status, used) == ("achieved", ["turns", "turns-two"])
    assert (record.model, record.config["temperature"]) == ("turns-two", 0.5)


async def test_a_model_that_cannot_be_had_changes_nothing(runs: Runs) -> None:
    config = runs.config([MEND], plugins={"asks": {"about": "put"}})
    async with submitted(runs.store, config, interactive=True) as run:
        asked = await reached(run, "human_check_required")
        with pytest.raises(UsageError, match="no-such-model"):
            await run.configure(model="no-such-model", max_iterations=3)
        before = await run.record()
        assert await run.answer(asked.payload["question"]["id"], "yes")
        record = await run.result()
    for each in (before, record):
        assert (each.model, each.limits.max_iterations) == ("turns", 6)
        assert "no-such-model" not in each.config.values()
    assert record.status == "achieved"


@pytest.mark.parametrize("where", ["create", "warm_up"])
async def test_a_model_whose_provider_ends_the_program_is_refused(runs: Runs, where: str) -> None:
    plugins = {"asks": {"about": "put"}, "broken": {"exits_in": where}}
    config = runs.config([MEND], plugins=plugins)
    async with submitted(runs.store, config, interactive=True) as run:
        asked = await reached(run, "human_check_required")
        await run.configure(model="broken")
        async for event in run.events():
            message = event.payload.get("message", "")
            if message.startswith("not changed:"):
                assert "the llm broken of scripted-plugins" in message
                assert "SystemExit: 3" in message
                break
        assert await run.answer(asked.payload["question"]["id"], "yes")
        record = await run.result()
    assert (record.status, record.model) == ("achieved", "turns")


async def test_an_error_of_a_model_that_was_chosen_later_names_its_provider(runs: Runs) -> None:
    config = runs.config([MEND_A_LITTLE], plugins={"asks": {"about": "put"}})
    async with submitted(runs.store, config, interactive=True) as run:
        asked = await reached(run, "human_check_required")
        await run.configure(model="broken")
        await reached(run, "log", message="changed: model_name: broken")
        assert await run.answer(asked.payload["question"]["id"], "yes")
        record = await run.result()
    assert (record.status, record.model) == ("error", "broken")
    assert "the provider broken@scripted-plugins failed: RuntimeError: no wire" in record.reason


async def test_a_run_that_goes_on_still_knows_where_its_settings_come_from(runs: Runs) -> None:
    config = runs.config([HANG, MEND], tools=["hang", "put"], no_tools=["no_such.*"])
    origins = {"no_tools": "/home/me/config.yml"}
    async with submitted(runs.store, config, origins=origins) as run:
        await reached(run, "tool_call", tool="hang")
        await run.cancel("interrupted")
        await run.result()
        last = (await run.logged())[-1].seq
        await run.resume(max_iterations=5)
        record = await run.result()
        warnings = [event.payload.get("message", "") for event in await run.logged(last)]
    assert record.status == "achieved"
    assert any(
        line.startswith("no_tools: `no_such.*`") and line.endswith("(from /home/me/config.yml)")
        for line in warnings
    )


async def test_a_run_that_waits_its_turn_begins_with_what_was_changed(
    runs: Runs, projects: list[Path]
) -> None:
    async with manager_for(runs.store, max_parallel=1) as manager:
        first = await manager.submit(request(runs, [HANG], projects[0], tools=["hang"]))
        second = await manager.submit(request(runs, steps(9), projects[1]))
        await second.configure(max_iterations=1, model="turns-two")
        await first.cancel()
        record = await second.result()
    assert (record.status, record.iterations, record.model) == ("failed", 1, "turns-two")
    assert runs.events(record, "llm_usage")[0].payload["model"] == "turns-two"


async def test_a_run_can_wait_for_another_one_in_its_project(runs: Runs) -> None:
    async with manager_for(runs.store, wait_for_project=True) as manager:
        first = await manager.submit(request(runs, [HANG], tools=["hang"]))
        await reached(first, "tool_call")
        second = await manager.submit(request(runs, [MEND]))
        assert (await second.record()).status == "pending"
        await first.cancel()
        assert (await second.result()).status == "achieved"


async def test_a_paused_manager_begins_nothing_and_the_next_one_does(
    runs: Runs, projects: list[Path]
) -> None:
    async with manager_for(runs.store, max_parallel=1) as manager:
        first = await manager.submit(request(runs, [HANG], projects[0], tools=["hang"]))
        await reached(first, "tool_call")
        second = await manager.submit(request(runs, [MEND], projects[1]))
        manager.pause()
        await first.cancel()
        await first.result()
        assert (await second.record()).status == "pending"
    async with manager_for(runs.store, max_parallel=1) as manager:
        second = await manager.get(second.id)
        await manager.attach(lambda record: record.id != second.id)
        assert (await second.record()).status == "pending"
        await manager.attach()
        assert (await second.result()).status == "achieved"


async def test_a_run_that_is_about_to_go_on_is_configured_and_heard(runs: Runs) -> None:
    record = await runs.stopped_at("hang", [HANG], tools=["hang"])
    async with manager_for(runs.store) as manager:
        run = await manager.get(record.id)
        ended = (await run.logged())[-1]
        await run.resume()
        await run.configure(max_iterations=5)

        async def hear() -> list[TextDelta]:
            return [delta async for delta in run.deltas()]

        hearing = asyncio.ensure_future(hear())
        async for event in run.events(ended.seq):
            if event.kind == "tool_call":
                break
        assert not hearing.done()
        await run.cancel()
        assert (await run.result()).limits.max_iterations == 5
        await hearing  # it ends with the run


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"max_iteration": 3}, "did you mean max_iterations"),
        ({"sandbox": "local"}, "sandbox cannot be changed while a run goes on"),
        ({"max_iterations": 0}, "must be 1 or more"),
    ],
)
async def test_what_cannot_be_changed_is_a_usage_error(
    runs: Runs, settings: dict[str, Any], says: str
) -> None:
    async with submitted(runs.store, runs.config([HANG], tools=["hang"])) as run:
        await reached(run, "tool_call")
        with pytest.raises(UsageError) as caught:
            await run.configure(**settings)
        assert says in str(caught.value)


async def test_a_run_that_has_ended_cannot_be_configured(runs: Runs) -> None:
    record = await runs.run([MEND])
    async with manager_for(runs.store) as manager:
        run = await manager.get(record.id)
        with pytest.raises(UsageError, match="has ended: achieved"):
            await run.configure(max_iterations=9)
        assert not await run.cancel()


# cancel


@pytest.mark.parametrize(("status", "code"), [("aborted", 3), ("interrupted", 130)])
async def test_a_running_run_is_ended(runs: Runs, status: Any, code: int) -> None:
    async with submitted(runs.store, runs.config([HANG], tools=["hang"])) as run:
        await reached(run, "tool_call")
        assert await run.cancel(status)
        record = await run.result()
        assert (record.status, record.exit_code) == (status, code)
        assert (await run.logged())[-1].payload["status"] == status
        assert not await run.cancel()
    assert record.resumable == (status == "interrupted")


async def test_a_run_in_another_process_is_ended(runs: Runs) -> None:
    config = runs.config([HANG], tools=["hang"])
    async with elsewhere(runs.store, config) as process, manager_for(runs.store) as manager:
        run = await found(manager, config.run_id)
        await reached(run, "tool_call")
        assert await run.cancel()
        assert (await run.result()).status == "aborted"
        assert await process.wait() == 0


async def test_a_run_that_waits_its_turn_is_ended_before_it_begins(runs: Runs) -> None:
    async with manager_for(runs.store, max_parallel=0) as manager:
        run = await manager.submit(request(runs, [MEND]))
        assert (await run.record()).status == "pending"
        assert await run.cancel()
        async with asyncio.timeout(60):
            record = await run.result()
            events = [event async for event in run.events()]
    assert record.status == "aborted"
    assert [event.kind for event in events] == ["run_end"]
    assert (runs.project / "a.txt").read_text() == "wrong\n"


async def test_a_cancellation_of_a_run_that_just_begins_is_heeded(runs: Runs) -> None:
    for turns in range(12):
        async with submitted(runs.store, runs.config([HANG], tools=["hang"])) as run:
            for _ in range(turns):
                await asyncio.sleep(0)
            async with asyncio.timeout(60):
                assert await run.cancel()
                assert (await run.result()).status == "aborted"


async def test_a_cancellation_of_a_run_that_is_just_gone_on_with_is_heeded(runs: Runs) -> None:
    record = await runs.stopped_at("hang", [HANG], tools=["hang"])
    async with manager_for(runs.store) as manager:
        run = await manager.get(record.id)
        await run.resume()
        async with asyncio.timeout(60):
            assert await run.cancel("interrupted")
            assert (await run.result()).status == "interrupted"


async def test_a_cancellation_that_came_too_late_is_not_for_the_part_that_follows(
    runs: Runs,
) -> None:
    record = await runs.run([LOOK, MEND], max_iterations=1)
    await runs.store.send(record.id, Cancel())
    assert (await runs.resume(record.id, max_iterations=3)).status == "achieved"


async def test_a_run_that_was_ended_before_it_began_does_not_begin(runs: Runs) -> None:
    async with manager_for(runs.store, max_parallel=0) as manager:
        run = await manager.submit(request(runs, [MEND]))
        assert await run.cancel("interrupted")
        async with manager_for(runs.store) as late:  # whose engine had just taken it
            await late.execute(run.id)
        record = await run.record()
        assert (record.status, record.started_at) == ("interrupted", None)
        assert (runs.project / "a.txt").read_text() == "wrong\n"
    assert (await runs.resume(run.id)).status == "achieved"


async def test_a_run_whose_mailbox_fails_ends(runs: Runs) -> None:
    class Fails(FilesStore):
        broken = False

        async def commands(self, claim: Claim, after: int) -> Any:
            if self.broken:
                raise OSError("the mailbox is gone")
            return await super().commands(claim, after)

    store = Fails(state=runs.store.state)
    config = runs.config([MEND], plugins={"asks": {"about": "put"}})
    async with RunManager(store, "inline") as manager:
        run = await manager.submit(RunRequest(config=config, interactive=True))
        asked = await reached(run, "human_check_required")
        store.broken = True
        assert await run.answer(asked.payload["question"]["id"], "yes")
        async with asyncio.timeout(60):
            record = await run.result()
    assert record.status == "error"
    assert record.reason == "the run's mailbox fails: OSError: the mailbox is gone"


async def test_a_run_that_another_manager_has_begun_is_followed(runs: Runs) -> None:
    async with manager_for(runs.store, max_parallel=1) as first:
        busy = await first.submit(request(runs, [HANG], tools=["hang"]))
        await reached(busy, "tool_call")
        other = runs.project.parent / "other"
        shutil.copytree(runs.project, other)
        run = await first.submit(request(runs, [HANG], other, tools=["hang"]))
        waiting = asyncio.ensure_future(run.result())
        async with manager_for(runs.store) as second:
            await second.attach()
            await reached(run, "tool_call")
            await busy.cancel()
            await busy.result()
            await (await second.get(run.id)).cancel()
            async with asyncio.timeout(60):
                assert (await waiting).status == "aborted"


async def test_who_stops_waiting_for_the_result_ends_no_run(runs: Runs) -> None:
    async with submitted(runs.store, runs.config([LOOK, LOOK, MEND])) as run:
        waiting = [asyncio.ensure_future(run.result()) for _ in range(2)]
        await reached(run, "step_start")
        waiting[0].cancel()
        await asyncio.wait({waiting[0]})
        assert waiting[0].cancelled()
        assert (await waiting[1]).status == "achieved"


async def test_what_still_works_when_the_manager_closes_can_be_gone_on_with(runs: Runs) -> None:
    async with submitted(runs.store, runs.config([HANG, MEND], tools=["hang", "put"])) as run:
        await reached(run, "tool_call")
    record = await runs.store.load(run.id)
    assert record.status == "interrupted"
    assert (await runs.resume(run.id)).status == "achieved"


# queueing


async def test_runs_above_the_limit_wait_and_keep_their_order(
    runs: Runs, projects: list[Path]
) -> None:
    async with manager_for(runs.store, max_parallel=1) as manager:
        first = await manager.submit(request(runs, [HANG], projects[0], tools=["hang"]))
        made = [await manager.submit(request(runs, [LOOK, MEND], each)) for each in projects[1:]]
        await reached(first, "tool_call")
        assert [(await run.record()).status for run in made] == ["pending", "pending"]
        await first.cancel()
        ended = [await run.result() for run in [first, *made]]
    assert [record.status for record in ended] == ["aborted", "achieved", "achieved"]
    times = [(record.started_at, record.ended_at) for record in ended]
    assert times == sorted(times)
    for (_, ended_at), (started_at, _) in itertools.pairwise(times):
        assert started_at >= ended_at


async def test_a_manager_takes_up_what_an_earlier_one_left_waiting(
    runs: Runs, projects: list[Path]
) -> None:
    async with manager_for(runs.store, max_parallel=0) as earlier:
        made = [await earlier.submit(request(runs, [MEND], each)) for each in projects]
    records = await runs.store.list(status="pending")
    assert {run.id for run in records} == {run.id for run in made}
    async with manager_for(runs.store, max_parallel=1) as manager:
        await manager.attach()
        ended = [await (await manager.get(run.id)).result() for run in made]
    assert [record.status for record in ended] == ["achieved"] * 3
    starts = [record.started_at for record in ended]
    assert starts == sorted(starts), "in the order in which they were submitted"


async def test_two_runs_in_two_projects_work_side_by_side(runs: Runs, projects: list[Path]) -> None:
    async with manager_for(runs.store) as manager:
        first = await manager.submit(request(runs, [HANG], projects[0], tools=["hang"]))
        await reached(first, "tool_call")
        second = await manager.submit(request(runs, [MEND], projects[1]))
        assert (await second.result()).status == "achieved"
        assert (await first.record()).status == "running"


# what cannot begin


async def test_a_usage_error_that_is_found_late_leaves_no_run(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scripted_plugins

    async def missing_runner(_: Any) -> str:
        return "the runner is missing"

    monkeypatch.setattr(scripted_plugins.ExpectedText, "ready", missing_runner)
    async with submitted(runs.store, runs.config([MEND])) as run:
        with pytest.raises(UsageError, match="the runner is missing"):
            await run.result()
        with pytest.raises(RunNotFoundError):
            await run.record()
    assert await runs.store.list() == []


async def test_a_follower_of_a_run_that_cannot_begin_is_told_that_it_is_gone(runs: Runs) -> None:
    async with submitted(runs.store, runs.config([HANG], tools=["hang"])) as first:
        await reached(first, "tool_call")
        async with manager_for(runs.store) as manager:
            second = await manager.submit(request(runs, [MEND]))
            with pytest.raises(WorkspaceLockedError, match=first.id):
                await second.result()
            async with asyncio.timeout(60):
                with pytest.raises(RunNotFoundError):
                    [event async for event in second.events()]


# the engine `process`


async def test_a_run_of_the_engine_process_outlives_its_manager(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ..running import SITE

    monkeypatch.setenv("PYTHONPATH", str(SITE))
    config = runs.config([LOOK, HANG, MEND], tools=["look", "hang", "put"])
    config = config.model_copy(update={"plugins": config.plugins | {"hang": {"limit_s": 3.0}}})
    async with manager_for(runs.store, "process") as first:
        run = await first.submit(RunRequest(config=config))
        await reached(run, "tool_call", tool="hang")
    assert (await runs.store.load(run.id)).status == "running"
    async with manager_for(runs.store, "process") as second:
        await second.attach()
        again = await second.get(run.id)
        async with asyncio.timeout(100):
            assert (await again.result()).status == "achieved"


async def test_a_usage_error_of_a_child_process_is_raised_here_and_leaves_no_run(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ..running import SITE

    monkeypatch.setenv("PYTHONPATH", str(SITE))
    async with submitted(runs.store, runs.config([HANG], tools=["hang"])) as first:
        await reached(first, "tool_call")
        async with manager_for(runs.store, "process") as manager:
            second = await manager.submit(request(runs, [MEND]))
            with pytest.raises(WorkspaceLockedError, match=first.id):
                await second.result()
        assert [record.id for record in await runs.store.list()] == [first.id]


async def found(manager: Any, run_id: str) -> Run:
    """The run, once its process has made it."""
    async with asyncio.timeout(60):
        while True:
            try:
                return await manager.get(run_id)
            except RunNotFoundError:
                await asyncio.sleep(0.02)
