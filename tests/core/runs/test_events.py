"""What a reader gets of a run, wherever it works: every event once, in order, and then the end."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from retrai_core import AgentEvent, Run, UsageError

from ..running import Runs, elsewhere, manager_for, reached, submitted

LOOK = {"calls": [{"name": "look", "args": {"path": "b.txt"}}]}
HANG = {"calls": [{"name": "hang", "args": {}}]}
MEND = {"calls": [{"name": "put", "args": {"path": "a.txt", "text": "right\n"}}]}


async def heard(run: Run, after: int = 0) -> list[AgentEvent]:
    async with asyncio.timeout(60):
        return [event async for event in run.events(after)]


def seqs(events: list[AgentEvent]) -> list[int]:
    return [event.seq for event in events]


async def test_every_reader_hears_everything_in_order(runs: Runs) -> None:
    async with submitted(runs.store, runs.config([LOOK, LOOK, MEND])) as run:
        first, second = await asyncio.gather(heard(run), heard(run))
    assert seqs(first) == list(range(1, len(first) + 1))
    assert first == second == runs.events(await runs.store.load(run.id))
    assert first[-1].kind == "run_end"
    assert first[-1].payload["status"] == "achieved"


async def test_a_reader_goes_on_after_what_it_knows(runs: Runs) -> None:
    async with submitted(runs.store, runs.config([LOOK, MEND])) as run:
        known = await reached(run, "tool_call")
        rest = await heard(run, known.seq)
        assert seqs(rest) == list(range(known.seq + 1, rest[-1].seq + 1))
        for after in (0, 1, rest[-1].seq - 1):
            assert seqs(await heard(run, after)) == list(range(after + 1, rest[-1].seq + 1))
        assert await heard(run, rest[-1].seq) == []


async def test_a_number_that_no_event_has_keeps_no_reader(runs: Runs) -> None:
    record = await runs.run([MEND])
    async with manager_for(runs.store) as manager:
        assert await heard(await manager.get(record.id), 1000) == []


async def test_the_events_of_an_ended_run_are_read_by_another_manager(runs: Runs) -> None:
    record = await runs.run([MEND])
    async with manager_for(runs.store) as manager:
        run = await manager.get(record.id)
        assert await heard(run) == runs.events(record)


async def test_a_slow_reader_misses_nothing_and_slows_nobody(runs: Runs) -> None:
    async with submitted(runs.store, runs.config([LOOK] * 3 + [MEND])) as run:
        stream = run.events()
        slow = [await anext(stream)]
        assert (await run.result()).status == "achieved"
        slow += [event async for event in stream]
    assert seqs(slow) == list(range(1, slow[-1].seq + 1))


async def test_a_reader_that_goes_away_ends_nothing(runs: Runs) -> None:
    async with submitted(runs.store, runs.config([LOOK, MEND])) as run:
        async for _ in run.events():
            break
        reader = asyncio.ensure_future(heard(run))
        await asyncio.sleep(0)
        reader.cancel()
        assert (await run.result()).status == "achieved"


async def test_a_resumed_run_s_earlier_end_is_passed(runs: Runs) -> None:
    record = await runs.run([LOOK, MEND], max_iterations=1)
    async with manager_for(runs.store) as manager:
        run = await manager.get(record.id)
        first = await heard(run)
        await run.resume(max_iterations=3)
        later = await heard(run, first[-1].seq)
        assert (await run.result()).status == "achieved"
        every = await heard(run)
    assert seqs(every) == list(range(1, every[-1].seq + 1))
    assert every == first + later
    ends = [event.payload["status"] for event in every if event.kind == "run_end"]
    assert ends == ["failed", "achieved"]


async def test_a_run_in_another_process_is_followed_live(runs: Runs) -> None:
    config = runs.config([LOOK, LOOK, MEND])
    async with elsewhere(runs.store, config) as process, manager_for(runs.store) as manager:
        run = await found(manager, config.run_id)
        every = await heard(run)
        assert (await run.result()).status == "achieved"
        assert await process.wait() == 0
    assert seqs(every) == list(range(1, every[-1].seq + 1))


async def test_the_end_of_a_run_whose_holder_was_killed_is_written_by_who_finds_it(
    runs: Runs,
) -> None:
    config = runs.config([LOOK, HANG], tools=["look", "hang"])
    async with elsewhere(runs.store, config) as process, manager_for(runs.store) as manager:
        run = await found(manager, config.run_id)
        readers = [asyncio.ensure_future(heard(run)) for _ in range(3)]
        await reached(run, "tool_call", tool="hang")
        process.kill()
        first, *others = await asyncio.gather(*readers)
        assert others == [first, first], "one of them wrote it, once"
        record = await run.result()
    assert [event.kind for event in first].count("run_end") == 1
    end = first[-1].payload
    assert (end["status"], end["exit_code"]) == ("interrupted", 130)
    assert (record.status, record.reason) == ("interrupted", "its process was killed")
    assert (record.iterations, record.tokens.total) == (1, 30), "how far it came is kept"
    assert record.resumable


async def test_a_killed_run_that_is_resumed_goes_on_in_the_same_log(runs: Runs) -> None:
    config = runs.config([LOOK, HANG, MEND], tools=["look", "hang", "put"])
    async with elsewhere(runs.store, config) as process, manager_for(runs.store) as manager:
        run = await found(manager, config.run_id)
        await reached(run, "tool_call", tool="hang")
        process.kill()
        await process.wait()
        await run.resume()
        assert (await run.result()).status == "achieved"
        every = await heard(run)
    assert seqs(every) == list(range(1, every[-1].seq + 1))
    assert every[-1].payload["status"] == "achieved"


async def test_a_run_that_waits_is_followed_from_its_beginning(runs: Runs) -> None:
    async with manager_for(runs.store, max_parallel=0) as manager:
        from retrai_core import RunRequest

        run = await manager.submit(RunRequest(config=runs.config([MEND])))
        reading = asyncio.ensure_future(heard(run))
        await asyncio.sleep(0)
        async with manager_for(runs.store) as other:
            await other.attach()
            every = await reading
            assert every[-1].payload["status"] == "achieved"


async def test_the_changes_of_all_runs_are_told(runs: Runs) -> None:
    seen: list[tuple[str, str]] = []
    async with manager_for(runs.store) as watching:

        async def watch() -> None:
            async for record in watching.events():
                seen.append((record.id, record.status))
                if record.status == "achieved":
                    return

        watcher = asyncio.ensure_future(watch())
        await asyncio.sleep(0)
        record = await runs.run([LOOK, MEND])
        async with asyncio.timeout(60):
            await watcher
    assert {run_id for run_id, _ in seen} == {record.id}
    statuses = [status for _, status in seen]
    assert statuses[-1] == "achieved"
    assert set(statuses) <= {"pending", "running", "achieved"}


async def found(manager: Any, run_id: str) -> Run:
    """The run, once its process has made it."""
    from retrai_core import RunNotFoundError

    async with asyncio.timeout(60):
        while True:
            try:
                return await manager.get(run_id)
            except RunNotFoundError:
                await asyncio.sleep(0.02)


@pytest.mark.skipif(os.name != "posix", reason="needs sockets in the file system")
async def test_deltas_of_a_run_that_has_ended_end(runs: Runs) -> None:
    record = await runs.run([MEND])
    async with manager_for(runs.store) as manager, asyncio.timeout(30):
        run = await manager.get(record.id)
        assert [delta async for delta in run.deltas()] == []


async def test_a_negative_number_is_a_usage_error(runs: Runs) -> None:
    record = await runs.run([MEND])
    async with manager_for(runs.store) as manager:
        with pytest.raises(UsageError, match=r"after: .*greater than or equal to 0, got -1"):
            await heard(await manager.get(record.id), -1)
