"""Runs as folders: finding, listing and pruning them, also those that were killed or broken."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from retrai_core import AgentEvent, Claim, FilesStore, RunRecord, UnreadableRun
from retrai_core.errors import (
    RunNotFoundError,
    StateFolderError,
    UnreadableRunError,
)
from retrai_core.runs.prune import Pruned, prune
from retrai_core.storage.state_folder import state_dir

DAY_S = 86_400


@pytest.fixture
def store(tmp_path: Path) -> FilesStore:
    return FilesStore(state=tmp_path / "state")


async def add(store: FilesStore, run_id: str, *, age_days: float = 0, **fields: object) -> Path:
    """A run that began so many days ago, and ended then unless `ended_at` says otherwise."""
    then = time.time() - age_days * DAY_S
    goals = [{"name": "pytest", "before": fields.pop("before", None)}]
    values = {"goals": goals, "model": "offline", "project": "/p", "status": "achieved"}
    values |= {"created_at": then, "started_at": then, "ended_at": then} | fields
    await store.create(RunRecord.model_validate({"id": run_id, **values}))
    return store.folder(run_id)


async def entries(store: FilesStore) -> list[RunRecord | UnreadableRun]:
    return [*await store.list()]


async def problems(store: FilesStore) -> dict[str, str]:
    """Why a record cannot be read, by the run's id."""
    return {run.id: run.problem for run in await store.list() if isinstance(run, UnreadableRun)}


async def claimed(store: FilesStore, run_id: str = "abc") -> Claim:
    claim = await store.claim(run_id, "a test")
    assert claim is not None
    return claim


async def ids(store: FilesStore) -> list[str]:
    return [run.id for run in await store.list() if isinstance(run, RunRecord)]


async def test_a_store_that_was_never_used_lists_nothing(store: FilesStore) -> None:
    assert await entries(store) == []
    assert await prune(store, store.state, keep=0) == Pruned()
    with pytest.raises(RunNotFoundError):
        await store.load("abc")
    assert not store.state.exists(), "looking makes nothing"


@pytest.mark.parametrize("below", ["state", "state/runs"])
async def test_a_state_folder_that_is_a_file_is_told(tmp_path: Path, below: str) -> None:
    file = tmp_path / below
    file.parent.mkdir(exist_ok=True)
    file.write_text("no folder\n")
    store = FilesStore(state=tmp_path / "state")
    for look in (store.list, lambda: store.load("abc"), lambda: prune(store, store.state, keep=0)):
        with pytest.raises(StateFolderError, match="Not a directory") as caught:
            await look()
        assert str(tmp_path / "state") in caught.value.message
        assert "RETRAI_STATE_DIR" in caught.value.hint


async def test_runs_are_listed_newest_first(store: FilesStore) -> None:
    for age in (3, 1, 2):
        await add(store, f"run{age}", age_days=age)
    assert await ids(store) == ["run1", "run2", "run3"]


async def test_a_run_is_found_by_the_beginning_of_its_id(store: FilesStore) -> None:
    await add(store, "abc123")
    await add(store, "abd456")
    assert (await store.load("abc")).id == "abc123"
    assert (await store.load("abd456")).id == "abd456"


async def test_a_beginning_that_several_share_names_them(store: FilesStore) -> None:
    await add(store, "abc123")
    await add(store, "abd456")
    with pytest.raises(RunNotFoundError) as caught:
        await store.load("ab")
    assert caught.value.message == "ab may be any of abc123, abd456"


async def test_a_whole_id_is_no_beginning_of_another(store: FilesStore) -> None:
    await add(store, "abc")
    await add(store, "abcdef")
    assert (await store.load("abc")).id == "abc"


@pytest.mark.parametrize("run_id", ["zzz", "", "..", "../..", "/etc"])
async def test_an_id_that_no_run_has_says_where_runs_are_listed(
    store: FilesStore, run_id: str
) -> None:
    await add(store, "abc")
    with pytest.raises(RunNotFoundError) as caught:
        await store.load(run_id)
    assert "retrai runs list" in caught.value.hint
    assert caught.value.exit_code == 2


async def test_a_broken_record_hides_no_other_run(store: FilesStore) -> None:
    await add(store, "good")
    for name, content in {"half": b'{"id": "half"', "odd": b"\xff\xfe", "list": b"[]"}.items():
        (await add(store, name) / "run.json").write_bytes(content)
    (await add(store, "empty") / "run.json").unlink()
    (store.runs / "a file").write_text("not a run")
    assert await ids(store) == ["good"]
    with pytest.raises(RunNotFoundError):
        await store.load("half")


async def test_a_run_whose_record_cannot_be_read_is_told_among_the_others(
    store: FilesStore,
) -> None:
    await add(store, "good")
    contents = {"half": b'{"id": "half"', "odd": b"\xff\xfe", "list": b"[]", "bare": b'{"id": "b"}'}
    for name, content in contents.items():
        (await add(store, name) / "run.json").write_bytes(content)
    (await add(store, "gone") / "run.json").rename(store.folder("gone") / "events.jsonl")
    (await add(store, "empty") / "run.json").unlink()
    found = await problems(store)
    assert found.keys() == {*contents, "gone"}
    assert found["half"].startswith("Invalid JSON")
    assert found["odd"] == "not UTF-8"
    assert found["bare"] == "model: field required"
    assert found["gone"] == "No such file or directory"
    with pytest.raises(UnreadableRunError) as caught:
        await store.load("hal")
    assert str(store.folder("half") / "run.json") in caught.value.message
    pruned = await prune(store, store.state, keep=0)
    assert pruned.removed == ["good"], "what cannot be read may still be needed"
    assert set(pruned.unreadable) == found.keys()
    claim = await claimed(store, "half")
    assert "half" not in (await prune(store, store.state, keep=0, unreadable=True)).removed
    await store.release(claim)
    assert await prune(store, store.state, keep=0, unreadable=True) == Pruned(["half"])
    assert [path.name for path in store.runs.iterdir()] == ["empty"]


async def test_pruning_goes_on_after_what_cannot_be_deleted(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        await add(store, name)
    other = store.state.parent / "other"
    (await add(store, "moved") / "run.json").write_text("{")
    store.folder("moved").rename(other)
    store.folder("moved").symlink_to(other)
    deleted = shutil.rmtree

    def rmtree(folder: Path) -> None:
        if folder.name == "first":
            raise PermissionError(13, "Permission denied", str(folder / "run.json"))
        deleted(folder)

    monkeypatch.setattr(shutil, "rmtree", rmtree)
    pruned = await prune(store, store.state, keep=0, unreadable=True)
    assert set(pruned.removed) == {"second", "moved"}
    assert list(pruned.failed) == ["first"]
    assert "Permission denied" in pruned.failed["first"]
    assert other.is_dir()


@pytest.mark.parametrize("of", ["good", "../../elsewhere"])
async def test_a_copied_record_has_no_other_folder_pruned(store: FilesStore, of: str) -> None:
    elsewhere = store.state.parent / "elsewhere"
    elsewhere.mkdir()
    await add(store, "good")
    shutil.copytree(store.folder("good"), store.folder("backup"))
    record = store.folder("backup") / "run.json"
    record.write_text(record.read_text().replace('"id": "good"', f'"id": "{of}"'))
    assert await problems(store) == {"backup": f"it is the record of run {of}"}
    assert await prune(store, store.state, keep=0) == Pruned(["good"], unreadable=["backup"])
    assert record.exists()
    assert elsewhere.is_dir()


async def test_a_run_whose_record_is_just_being_written_is_not_told_as_damaged(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    with ThreadPoolExecutor() as pool:

        def look(_: object) -> None:
            seen.extend(pool.submit(asyncio.run, entries(store)).result())

        monkeypatch.setattr(os, "fsync", look)
        folder = await add(store, "new")
    assert seen == []
    (folder / "run.json").unlink()
    (folder / "events.jsonl").touch()
    assert len(await entries(store)) == 1


async def test_a_run_s_folder_is_the_user_s_alone(store: FilesStore) -> None:
    assert (await add(store, "abc")).stat().st_mode & 0o077 == 0


async def test_a_run_that_is_running_is_shown_so(store: FilesStore) -> None:
    await add(store, "abc", status="running", ended_at=None)
    claim = await claimed(store)
    await store.save(claim, await store.load("abc"))
    assert (await store.load("abc")).status == "interrupted"
    await store.save(claim, (await store.load("abc")).model_copy(update={"status": "running"}))
    assert (await store.load("abc")).status == "running"
    await store.release(claim)
    assert (await store.load("abc")).status == "interrupted"


RUNNING = """
import asyncio, sys
from pathlib import Path
from retrai_core import FilesStore

async def hold():
    store = FilesStore(state=Path(sys.argv[1]))
    claim = await store.claim("abc", "another process")
    record = await store.load("abc")
    await store.save(claim, record.model_copy(update={"status": "running"}))
    print("running", flush=True)
    sys.stdin.read()

asyncio.run(hold())
"""


async def test_a_run_whose_process_was_killed_is_shown_as_interrupted(store: FilesStore) -> None:
    await add(store, "abc", status="running", ended_at=None)
    process = subprocess.Popen(  # noqa: ASYNC220 - the other process is what is tried
        [sys.executable, "-c", RUNNING, str(store.state)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    assert (await store.load("abc")).status == "running"
    assert await store.claim("abc", "a test") is None
    process.kill()
    process.communicate()

    killed = await store.load("abc")
    assert (killed.status, killed.exit_code) == ("interrupted", 130)
    assert killed.reason == "its process was killed"
    assert killed.next_step == "retrai runs resume abc"
    assert killed.resumable


async def test_pruning_keeps_the_newest(store: FilesStore) -> None:
    for age in range(5):
        await add(store, f"run{age}", age_days=age)
    assert await prune(store, store.state, keep=2) == Pruned(["run2", "run3", "run4"])
    assert await ids(store) == ["run0", "run1"]
    assert not store.folder("run2").exists()


async def test_pruning_spares_what_could_be_resumed_unless_it_is_named(store: FilesStore) -> None:
    for age in range(5):
        await add(store, f"run{age}", age_days=age, status="achieved" if age % 2 else "interrupted")
    assert await prune(store, store.state, keep=1) == Pruned(["run3"], ["run2", "run4"])
    assert await prune(store, store.state, keep=1, older_than_days=3) == Pruned(["run4"], ["run2"])
    assert await prune(store, store.state, keep=1, unfinished=True) == Pruned(["run1", "run2"])
    assert await ids(store) == ["run0"]


async def test_pruning_by_age_keeps_what_ended_lately(store: FilesStore) -> None:
    await add(store, "old", age_days=40)
    await add(store, "long", age_days=40, ended_at=time.time() - DAY_S)
    await add(store, "new", age_days=1)
    assert await prune(store, store.state, older_than_days=30) == Pruned(["old"])


async def test_pruning_by_age_keeps_a_run_that_was_killed_just_now(store: FilesStore) -> None:
    await add(store, "killed", status="running", ended_at=None)
    await add(store, "pending", status="pending", started_at=None, ended_at=None)
    await add(store, "forgotten", age_days=40, status="running", ended_at=None)
    assert await prune(store, store.state, older_than_days=30) == Pruned(["forgotten"])
    assert (await store.load("killed")).status == "interrupted"


async def test_a_run_that_is_running_is_never_pruned(store: FilesStore) -> None:
    await add(store, "abc", age_days=400, status="running", ended_at=None)
    await claimed(store)
    assert await prune(store, store.state, keep=0, older_than_days=0) == Pruned()


async def test_pruning_without_a_limit_deletes_nothing(store: FilesStore) -> None:
    await add(store, "abc", age_days=400)
    assert await prune(store, store.state) == Pruned()


def test_runs_stand_under_the_user_s_state_folder_unless_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETRAI_STATE_DIR", str(tmp_path / "mine"))
    assert state_dir() == tmp_path / "mine"
    monkeypatch.delenv("RETRAI_STATE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    assert tmp_path in state_dir().parents


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("goal_check", {"phase": "iteration", "achieved": False, "reason": "no"}),
        ("llm_usage", {"total_tokens": None, "cost_usd": 0.1}),
        ("tool_result", {"refused": 3}),
    ],
)
async def test_a_plugin_s_odd_event_leaves_a_killed_run_s_record_as_it_was(
    store: FilesStore, kind: str, payload: dict[str, object]
) -> None:
    before = {"achieved": False, "reason": "1 fails", "counts": {"failed": 1}}
    folder = await add(store, "r1", status="running", ended_at=None, before=before, worked_s=2.0)
    event = {"kind": kind, "run_id": "r1", "iteration": 1, "payload": payload, "ts": time.time()}
    (folder / "events.jsonl").write_text(json.dumps(event) + "\n")
    await add(store, "r2")
    assert sorted(await ids(store)) == ["r1", "r2"]
    killed = await store.load("r1")
    assert (killed.status, killed.worked_s, killed.refused) == ("interrupted", 2.0, [])


async def test_a_plugin_s_model_call_without_every_figure_counts_as_far_as_it_is_told(
    store: FilesStore,
) -> None:
    folder = await add(store, "r1", status="running", ended_at=None)
    now = time.time()
    calls = [{"total_tokens": 7}, {"prompt_tokens": 1, "total_tokens": 2, "cost_usd": 0.5}]
    events = [AgentEvent("llm_usage", "r1", 1, call, now) for call in calls]
    events.append(AgentEvent("iteration_complete", "r1", 1, {}, now))
    (folder / "events.jsonl").write_text("".join(f"{event.to_json()}\n" for event in events))
    killed = await store.load("r1")
    assert (killed.iterations, killed.tokens.input, killed.tokens.total) == (1, 1, 9)
    assert killed.cost_usd is None


async def test_a_run_that_ends_while_somebody_looks_was_not_killed(tmp_path: Path) -> None:
    class Slow(FilesStore):
        """Looks for the holder when that has just saved the run's end and let go."""

        def _was_killed(self, record: RunRecord, folder: Path) -> bool:
            while steps:
                steps.pop(0)()
            return super()._was_killed(record, folder)

    store, reader = FilesStore(state=tmp_path / "state"), Slow(state=tmp_path / "state")
    folder = await add(store, "abc", status="running", ended_at=None)
    claim = await claimed(store)
    record = RunRecord.load(folder)
    await store.save(claim, record)
    held = store._held["abc"]

    def end() -> None:
        record.status = "achieved"
        record.save(folder)
        os.close(held.lock)

    steps = [end]
    assert (await reader.load("abc")).status == "achieved"
