"""Who waits for changes hears of them, however many there were and whoever made them."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import cast
from weakref import ref

import pytest

from retrai_core import FilesStore, RunRecord
from retrai_core.storage.changes import Listener


def record(run_id: str) -> RunRecord:
    return RunRecord(id=run_id, model="offline", project=Path("/p"), status="running")


def changes(store: FilesStore, run_id: str | None) -> aclosing[AsyncGenerator[str]]:
    return aclosing(cast("AsyncGenerator[str]", store.changes(run_id)))


@pytest.fixture
def store(tmp_path: Path) -> FilesStore:
    return FilesStore(state=tmp_path / "state")


async def test_a_run_whose_holder_dies_is_told_to_who_waits_for_all(store: FilesStore) -> None:
    code = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from retrai_core import FilesStore\n"
        "async def hold():\n"
        "    store = FilesStore(state=Path(sys.argv[1]))\n"
        "    assert await store.claim('r1', 'another process')\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
        "asyncio.run(hold())\n"
    )
    await store.create(record("r1"))
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", code, str(store.state)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as holder:  # noqa: ASYNC220
        assert holder.stdout is not None
        holder.stdout.readline()
        async with changes(store, None) as of_all, changes(store, "r1") as of_run:
            assert await anext(of_run) == "r1"
            waiting = asyncio.gather(anext(of_all), anext(of_run))
            await asyncio.sleep(0)
            holder.kill()
            assert await asyncio.wait_for(waiting, 60) == ["r1", "r1"]
            assert (await store.load("r1")).status == "interrupted"


async def test_stores_in_other_threads_wake_each_other(store: FilesStore) -> None:
    await store.create(record("r1"))
    async with changes(store, "r1") as of_run:
        await anext(of_run)
        waiting = asyncio.ensure_future(anext(of_run))
        other = FilesStore(state=store.state)
        again = other.claim("r1", "another thread")
        await asyncio.to_thread(asyncio.run, again)
        assert await asyncio.wait_for(waiting, 60) == "r1"
        await other.aclose()


async def test_a_listener_that_nobody_closed_is_forgotten(store: FilesStore) -> None:
    listener = Listener(store.runs, "r1")
    gone = ref(listener)
    del listener
    gc.collect()
    assert gone() is None


async def test_changes_of_a_run_that_is_deleted_meanwhile_do_not_end(store: FilesStore) -> None:
    await store.create(record("r1"))
    async with changes(store, "r1") as of_run:
        assert await anext(of_run) == "r1"
        await store.delete("r1")
        assert await asyncio.wait_for(anext(of_run), 60) == "r1"


async def test_who_was_away_hears_of_every_run_that_others_changed(store: FilesStore) -> None:
    code = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from retrai_core import FilesStore, RunRecord\n"
        "async def change():\n"
        "    store = FilesStore(state=Path(sys.argv[1]))\n"
        "    claim = await store.claim('r1', 'another process')\n"
        "    for number in range(300):\n"
        "        await store.save(claim, await store.load('r1'))\n"
        "    await store.delete('r2')\n"
        "    record = RunRecord(id='r3', model='offline', project=Path('/p'))\n"
        "    await store.create(record)\n"
        "    await store.aclose()\n"
        "asyncio.run(change())\n"
    )
    for name in ("r1", "r2", "unchanged"):
        await store.create(record(name))
    async with changes(store, None) as of_all:
        command = [sys.executable, "-c", code, str(store.state)]
        await asyncio.to_thread(subprocess.run, command, check=True)
        told = {await asyncio.wait_for(anext(of_all), 60) for _ in range(3)}
    assert told == {"r1", "r2", "r3"}
