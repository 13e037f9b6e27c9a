"""Finding, listing and pruning runs, also those that were killed or broken."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from retrai_core.errors import RunNotFoundError, StateFolderError, UnreadableRunError
from retrai_core.events import AgentEvent
from retrai_core.runs.record import RunRecord
from retrai_core.runs.store import Pruned, RunStore, UnreadableRun, state_dir

DAY_S = 86_400


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "state")


def add(store: RunStore, run_id: str, *, age_days: float = 0, **fields: object) -> Path:
    """A run that began so many days ago, and ended then unless `ended_at` says otherwise."""
    then = time.time() - age_days * DAY_S
    goals = [{"name": "pytest", "before": fields.pop("before", None)}]
    values = {"goals": goals, "model": "offline", "project": "/p", "status": "achieved"}
    values |= {"started_at": then, "ended_at": then} | fields
    folder = store.create(RunRecord.model_validate({"id": run_id, **values}))
    os.utime(folder / "run.json", (then, then))
    return folder


def ids(store: RunStore) -> list[str]:
    return [record.id for record in store.list()]


def test_a_store_that_was_never_used_lists_nothing(store: RunStore) -> None:
    assert store.list() == []
    assert store.prune(keep=0) == Pruned()
    with pytest.raises(RunNotFoundError):
        store.load("abc")
    assert not store.state.exists(), "looking makes nothing"


@pytest.mark.parametrize("below", ["state", "state/runs"])
def test_a_state_folder_that_is_a_file_is_told(tmp_path: Path, below: str) -> None:
    file = tmp_path / below
    file.parent.mkdir(exist_ok=True)
    file.write_text("no folder\n")
    store = RunStore(tmp_path / "state")
    for look in (store.list, lambda: store.load("abc"), lambda: store.prune(keep=0)):
        with pytest.raises(StateFolderError, match="Not a directory") as caught:
            look()
        assert str(tmp_path / "state") in caught.value.message
        assert "RETRAI_STATE_DIR" in caught.value.hint


def test_runs_are_listed_newest_first(store: RunStore) -> None:
    for age in (3, 1, 2):
        add(store, f"run{age}", age_days=age)
    assert ids(store) == ["run1", "run2", "run3"]


def test_a_run_is_found_by_the_beginning_of_its_id(store: RunStore) -> None:
    add(store, "abc123")
    add(store, "abd456")
    assert store.load("abc").id == "abc123"
    assert store.load("abd456").id == "abd456"


def test_a_beginning_that_several_share_names_them(store: RunStore) -> None:
    add(store, "abc123")
    add(store, "abd456")
    with pytest.raises(RunNotFoundError) as caught:
        store.load("ab")
    assert caught.value.message == "ab may be any of abc123, abd456"


def test_a_whole_id_is_no_beginning_of_another(store: RunStore) -> None:
    add(store, "abc")
    add(store, "abcdef")
    assert store.load("abc").id == "abc"


@pytest.mark.parametrize("run_id", ["zzz", "", "..", "../..", "/etc"])
def test_an_id_that_no_run_has_says_where_runs_are_listed(store: RunStore, run_id: str) -> None:
    add(store, "abc")
    with pytest.raises(RunNotFoundError) as caught:
        store.load(run_id)
    assert "retrai runs list" in caught.value.hint
    assert caught.value.exit_code == 2


def test_a_broken_record_hides_no_other_run(store: RunStore) -> None:
    add(store, "good")
    for name, content in {"half": b'{"id": "half"', "odd": b"\xff\xfe", "list": b"[]"}.items():
        (add(store, name) / "run.json").write_bytes(content)
    (add(store, "empty") / "run.json").unlink()
    (store.runs / "a file").write_text("not a run")
    assert ids(store) == ["good"]
    with pytest.raises(RunNotFoundError):
        store.load("half")


def test_a_run_whose_record_cannot_be_read_is_told_among_the_others(store: RunStore) -> None:
    add(store, "good")
    contents = {"half": b'{"id": "half"', "odd": b"\xff\xfe", "list": b"[]", "bare": b'{"id": "b"}'}
    for name, content in contents.items():
        (add(store, name) / "run.json").write_bytes(content)
    (add(store, "gone") / "run.json").rename(store.folder("gone") / "events.jsonl")
    (add(store, "empty") / "run.json").unlink()
    found = {run.id: run.problem for run in store.entries() if isinstance(run, UnreadableRun)}
    assert found.keys() == {*contents, "gone"}
    assert found["half"].startswith("Invalid JSON")
    assert found["odd"] == "not UTF-8"
    assert found["bare"] == "model: field required"
    assert found["gone"] == "No such file or directory"
    with pytest.raises(UnreadableRunError) as caught:
        store.load("hal")
    assert str(store.folder("half") / "run.json") in caught.value.message
    pruned = store.prune(keep=0)
    assert pruned.removed == ["good"], "what cannot be read may still be needed"
    assert set(pruned.unreadable) == found.keys()
    with store.mark_running("half"):
        assert "half" not in store.prune(keep=0, unreadable=True).removed
    assert store.prune(keep=0, unreadable=True) == Pruned(["half"])
    assert [path.name for path in store.runs.iterdir()] == ["empty"]


def test_pruning_goes_on_after_what_cannot_be_deleted(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        add(store, name)
    other = store.state.parent / "other"
    (add(store, "moved") / "run.json").write_text("{")
    store.folder("moved").rename(other)
    store.folder("moved").symlink_to(other)
    deleted = shutil.rmtree

    def rmtree(folder: Path) -> None:
        if folder.name == "first":
            raise PermissionError(13, "Permission denied", str(folder / "run.json"))
        deleted(folder)

    monkeypatch.setattr(shutil, "rmtree", rmtree)
    pruned = store.prune(keep=0, unreadable=True)
    assert set(pruned.removed) == {"second", "moved"}
    assert list(pruned.failed) == ["first"]
    assert "Permission denied" in pruned.failed["first"]
    assert other.is_dir()


@pytest.mark.parametrize("of", ["good", "../../elsewhere"])
def test_a_copied_record_has_no_other_folder_pruned(store: RunStore, of: str) -> None:
    elsewhere = store.state.parent / "elsewhere"
    elsewhere.mkdir()
    add(store, "good")
    shutil.copytree(store.folder("good"), store.folder("backup"))
    record = store.folder("backup") / "run.json"
    record.write_text(record.read_text().replace('"id": "good"', f'"id": "{of}"'))
    found = [run.problem for run in store.entries() if isinstance(run, UnreadableRun)]
    assert found == [f"it is the record of run {of}"]
    assert store.prune(keep=0) == Pruned(["good"], unreadable=["backup"])
    assert record.exists()
    assert elsewhere.is_dir()


def test_a_run_whose_record_is_just_being_written_is_not_told_as_damaged(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    monkeypatch.setattr(os, "fsync", lambda _: seen.extend(store.entries()))
    folder = add(store, "new")
    assert seen == []
    (folder / "run.json").unlink()
    (folder / "events.jsonl").touch()
    assert len(store.entries()) == 1


def test_a_run_s_folder_is_the_user_s_alone(store: RunStore) -> None:
    assert add(store, "abc").stat().st_mode & 0o077 == 0


def test_a_run_that_is_running_is_shown_so(store: RunStore) -> None:
    add(store, "abc", status="running", ended_at=None)
    with store.mark_running("abc"):
        assert store.load("abc").status == "running"
    assert store.load("abc").status == "interrupted"


RUNNING = """
import sys
from pathlib import Path
from retrai_core.runs.store import RunStore

with RunStore(Path(sys.argv[1])).mark_running("abc"):
    print("running", flush=True)
    sys.stdin.read()
"""


def test_a_run_whose_process_was_killed_is_shown_as_interrupted(store: RunStore) -> None:
    add(store, "abc", status="running", ended_at=None)
    process = subprocess.Popen(
        [sys.executable, "-c", RUNNING, str(store.state)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    assert store.load("abc").status == "running"
    process.kill()
    process.communicate()

    killed = store.load("abc")
    assert (killed.status, killed.exit_code) == ("interrupted", 130)
    assert killed.reason == "its process was killed"
    assert killed.next_step == "retrai runs resume abc"
    assert killed.resumable


def test_pruning_keeps_the_newest(store: RunStore) -> None:
    for age in range(5):
        add(store, f"run{age}", age_days=age)
    assert store.prune(keep=2) == Pruned(["run2", "run3", "run4"])
    assert ids(store) == ["run0", "run1"]
    assert not store.folder("run2").exists()


def test_pruning_spares_what_could_be_resumed_unless_it_is_named(store: RunStore) -> None:
    for age in range(5):
        add(store, f"run{age}", age_days=age, status="achieved" if age % 2 else "interrupted")
    assert store.prune(keep=1) == Pruned(["run3"], ["run2", "run4"])
    assert store.prune(keep=1, older_than_days=3) == Pruned(["run4"], ["run2"])
    assert store.prune(keep=1, unfinished=True) == Pruned(["run1", "run2"])
    assert ids(store) == ["run0"]


def test_pruning_by_age_keeps_what_ended_lately(store: RunStore) -> None:
    add(store, "old", age_days=40)
    add(store, "long", age_days=40, ended_at=time.time() - DAY_S)
    add(store, "new", age_days=1)
    assert store.prune(older_than_days=30) == Pruned(["old"])


def test_pruning_by_age_keeps_a_run_that_was_killed_just_now(store: RunStore) -> None:
    add(store, "killed", status="running", ended_at=None)
    add(store, "pending", status="pending", started_at=None, ended_at=None)
    add(store, "forgotten", age_days=40, status="running", ended_at=None)
    assert store.prune(older_than_days=30) == Pruned(["forgotten"])
    assert store.load("killed").status == "interrupted"


def test_a_run_that_is_running_is_never_pruned(store: RunStore) -> None:
    add(store, "abc", age_days=400, status="running", ended_at=None)
    with store.mark_running("abc"):
        assert store.prune(keep=0, older_than_days=0) == Pruned()


def test_pruning_without_a_limit_deletes_nothing(store: RunStore) -> None:
    add(store, "abc", age_days=400)
    assert store.prune() == Pruned()


def test_a_run_that_never_began_can_be_discarded(store: RunStore) -> None:
    add(store, "abc", status="pending")
    store.discard("abc")
    store.discard("abc")
    assert ids(store) == []


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
def test_a_plugin_s_odd_event_leaves_a_killed_run_s_record_as_it_was(
    store: RunStore, kind: str, payload: dict[str, object]
) -> None:
    before = {"achieved": False, "reason": "1 fails", "counts": {"failed": 1}}
    folder = add(store, "r1", status="running", ended_at=None, before=before, worked_s=2.0)
    event = {"kind": kind, "run_id": "r1", "iteration": 1, "payload": payload, "ts": time.time()}
    (folder / "events.jsonl").write_text(json.dumps(event) + "\n")
    add(store, "r2")
    assert sorted(ids(store)) == ["r1", "r2"]
    killed = store.load("r1")
    assert (killed.status, killed.worked_s, killed.refused) == ("interrupted", 2.0, [])


def test_a_plugin_s_model_call_without_every_figure_counts_as_far_as_it_is_told(
    store: RunStore,
) -> None:
    folder = add(store, "r1", status="running", ended_at=None)
    now = time.time()
    calls = [{"total_tokens": 7}, {"prompt_tokens": 1, "total_tokens": 2, "cost_usd": 0.5}]
    events = [AgentEvent("llm_usage", "r1", 1, call, now) for call in calls]
    events.append(AgentEvent("iteration_complete", "r1", 1, {}, now))
    (folder / "events.jsonl").write_text("".join(f"{event.to_json()}\n" for event in events))
    killed = store.load("r1")
    assert (killed.iterations, killed.tokens.input, killed.tokens.total) == (1, 1, 9)
    assert killed.cost_usd is None
