"""A claim on `files` is a lock that the system drops with the process, and nothing else ends it."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from retrai_core import Cancel, Claim, ClaimLostError, FilesStore, RunRecord, UsageError
from retrai_core.errors import StateFolderError

HOLD = """
import asyncio, os, select, sys
from pathlib import Path
from retrai_core import FilesStore

async def hold():
    store = FilesStore(state=Path(sys.argv[1]))
    assert await store.claim("r1", "another process")
    {more}
    print("held", flush=True)
    sys.stdin.read()

asyncio.run(hold())
"""
FORK = """
    parent = os.getpid()
    if os.fork() == 0:
        while os.getppid() == parent:
            select.select([], [], [], 0.01)
        select.select([], [], [], 0.2)
        os._exit(0)
"""


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[FilesStore]:
    made = FilesStore(state=tmp_path / "state")
    await made.create(RunRecord(id="r1", model="offline", project=Path("/p"), status="running"))
    yield made
    await made.aclose()


@contextmanager
def held(store: FilesStore, more: str = "") -> Generator[subprocess.Popen[str]]:
    """A process that holds the run."""
    command = [sys.executable, "-c", HOLD.replace("{more}", more.strip()), str(store.state)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            yield holder
        finally:
            holder.kill()


async def claimed(store: FilesStore) -> Claim:
    claim = await store.claim("r1", "a test")
    assert claim is not None
    return claim


async def test_a_child_of_a_killed_holder_that_has_not_yet_begun_is_waited_for(
    store: FilesStore,
) -> None:
    with held(store, FORK) as holder:
        assert await store.claim("r1", "a test") is None
        holder.kill()
        holder.wait()
        await claimed(store)


@pytest.mark.parametrize("note", [b"", b"{", b"[]", b'{"number": "x"}', b"\xff\xfe"])
async def test_what_an_older_version_left_in_the_lock_s_file_is_no_obstacle(
    store: FilesStore, note: bytes
) -> None:
    (store.folder("r1") / "running.lock").write_bytes(note)
    assert (await store.load("r1")).status == "interrupted"
    assert (await claimed(store)).number == 1


async def test_a_run_that_retrai_0_1_works_on_is_seen_as_running(store: FilesStore) -> None:
    with (store.folder("r1") / "running.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert (await store.load("r1")).status == "running"
        assert await store.claim("r1", "a test") is None
    assert (await store.load("r1")).status == "interrupted"


async def test_a_run_that_waits_for_a_person_may_have_given_its_worker_back(
    store: FilesStore,
) -> None:
    waiting = RunRecord(id="r1", model="offline", project=Path("/p"), status="waiting")
    claim = await claimed(store)
    await store.save(claim, waiting)
    assert (await store.load("r1")).status == "waiting"
    await store.release(claim)
    assert (await store.load("r1")).status == "waiting"
    with held(store):
        assert (await store.load("r1")).status == "waiting", "the next worker has begun"
    assert (await store.load("r1")).status == "interrupted", "its process was killed"


async def test_a_holder_whose_folder_is_gone_writes_nothing(store: FilesStore) -> None:
    claim = await claimed(store)
    record = await store.load("r1")
    shutil.rmtree(store.folder("r1"))
    with pytest.raises(ClaimLostError):
        await store.append_events(claim, [])
    await store.create(record)
    with pytest.raises(ClaimLostError):
        await store.save(claim, record)
    await store.save(await claimed(store), record)


async def test_a_command_behind_one_that_a_kill_left_half_written_comes_through(
    store: FilesStore,
) -> None:
    await store.send("r1", Cancel())
    mailbox = store.folder("r1") / "mailbox.jsonl"
    whole = mailbox.read_bytes()
    mailbox.write_bytes(whole + whole[:-10])
    claim = await claimed(store)
    assert [each.number for each in await store.commands(claim, 0)] == [1]
    await store.send("r1", Cancel(status="interrupted"))
    assert [each.number for each in await store.commands(claim, 0)] == [1, 2]


async def test_a_command_whose_line_only_lacks_its_end_is_counted(store: FilesStore) -> None:
    await store.send("r1", Cancel())
    mailbox = store.folder("r1") / "mailbox.jsonl"
    mailbox.write_bytes(mailbox.read_bytes().rstrip(b"\n"))
    await store.send("r1", Cancel())
    claim = await claimed(store)
    assert [each.number for each in await store.commands(claim, 0)] == [1, 2]


async def test_the_lock_s_file_says_who_has_the_run(store: FilesStore) -> None:
    await claimed(store)
    note = json.loads((store.folder("r1") / "running.lock").read_bytes())
    assert (note["worker"], note["number"], note["released"]) == ("a test", 1, False)


async def test_a_state_folder_in_the_project_is_refused(tmp_path: Path) -> None:
    store = FilesStore(state=tmp_path / "project" / "state")
    with pytest.raises(UsageError, match="lies in the project"):
        await store.create(RunRecord(id="r1", model="offline", project=tmp_path / "project"))
    assert not store.state.exists()


async def test_a_state_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no folder")
    store = FilesStore(state=tmp_path / "state")
    with pytest.raises(StateFolderError, match="nothing can be kept in the state folder"):
        await store.create(RunRecord(id="r1", model="offline", project=Path("/p")))
