"""Servers that end, are killed, and start again; ports; roots that are gone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from .served import FINAL, Served, put, request, serving, start, until


def waiting_run(served: Served, name: str) -> str:
    """A run that waits for a person."""
    run_id = served.start(served.project(name), put("no"), put("right"), hitl_enabled=True)
    served.wait(run_id, "waiting")
    return run_id


def test_sigterm_interrupts_runs_which_go_on_later(tmp_path: Path) -> None:
    root, state = tmp_path / "root", tmp_path / "state"
    with serving(root, state, "--max-parallel", "1") as served:
        run_id = waiting_run(served, "one")
        waits = served.start(served.project("two"), put("right"))
        with served.socket(f"/api/ws/{run_id}") as connection:
            served.process.terminate()
            kinds = [json.loads(message) for message in connection]
        assert kinds[-1]["kind"] == "run_end"
        assert kinds[-1]["payload"]["status"] == "interrupted"
        assert served.process.wait(10) == 0
    with serving(root, state, "--max-parallel", "1") as served:
        assert served.wait(waits)["status"] == "achieved"
        assert served.show(run_id)["status"] == "interrupted"
        served.http.post(f"/api/runs/{run_id}/resume").raise_for_status()
        served.wait(run_id, "waiting")
        served.http.post(f"/api/runs/{run_id}/resume", json={"decision": "approve"})
        assert served.wait(run_id)["status"] == "achieved"


def test_runs_outlive_a_server_that_detaches_or_is_killed(tmp_path: Path) -> None:
    """Their events have no gap, and the next server answers for them."""
    root, state = tmp_path / "root", tmp_path / "state"
    with serving(root, state, "--detach") as served:
        run_id = waiting_run(served, "one")
        assert served.stop() == 0
    with serving(root, state) as served:
        assert served.show(run_id)["status"] == "waiting"
        seen = served.http.get(f"/api/runs/{run_id}/events").json()
        served.process.kill()
        served.process.wait(10)
    with serving(root, state) as served:
        assert served.show(run_id)["status"] == "waiting"
        served.http.post(f"/api/runs/{run_id}/resume", json={"decision": "approve"})
        later = served.events(run_id, f"?after={seen[-1]['seq']}")
        numbers = [event["seq"] for event in [*seen, *later]]
        assert numbers == list(range(1, len(numbers) + 1))
        assert served.wait(run_id)["status"] == "achieved"


def test_a_run_whose_process_died_with_the_server_is_interrupted(tmp_path: Path) -> None:
    root, state = tmp_path / "root", tmp_path / "state"
    with serving(root, state) as served:
        run_id = waiting_run(served, "one")
        served.process.kill()
        served.process.wait(10)
    note = json.loads((state / "locks").glob("*.lock").__next__().read_text())
    os.kill(note["pid"], signal.SIGKILL)
    with serving(root, state) as served:
        run = served.wait(run_id, *FINAL)
        assert (run["status"], run["resumable"]) == ("interrupted", True)
        assert served.events(run_id)[-1]["kind"] == "run_end"


def test_more_runs_than_places_wait_in_their_order(tmp_path: Path) -> None:
    with serving(tmp_path / "root", tmp_path / "state", "--max-parallel", "1") as served:
        ids = [served.start(served.project(f"p{n}", "right")) for n in range(3)]
        until(
            lambda: [served.show(run_id)["status"] for run_id in ids],
            lambda statuses: all(status == "achieved" for status in statuses),
        )
        parts = [served.show(run_id) for run_id in ids]
        for before, after in pairwise(parts):
            assert before["ended_at"] <= after["started_at"]


def test_agents_are_imported_before_a_page_asks_for_their_graphs(tmp_path: Path) -> None:
    info = tmp_path / "early-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: early\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[retrai.agents]\nearly = early:Agent\n")
    text = "from pathlib import Path\nPath(__file__).with_suffix('.done').touch()\nBroken\n"
    (tmp_path / "early.py").write_text(text)
    with serving(tmp_path / "root", tmp_path / "state", PYTHONPATH=str(tmp_path)):
        until((tmp_path / "early.done").exists, bool)
    assert (tmp_path / "state" / "stderr").read_text() == "stopping; once more stops at once\n"


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = start(["--root", str(tmp_path), "-p", str(port)], tmp_path / "state")
        assert process.wait(60) == 2
    assert f"port {port}" in (tmp_path / "state" / "stderr").read_text()


def test_the_default_port_taken_is_the_next_one(tmp_path: Path) -> None:
    try:
        taken = socket.create_server(("127.0.0.1", 8420))
    except OSError:  # a server of somebody else's
        taken = socket.socket()
    with taken:
        process = start(["--root", str(tmp_path)], tmp_path / "state")
        served = Served(process, tmp_path, tmp_path / "state")
        assert served.port > 8420
        assert served.said[0] == f"port 8420 is taken: this is {served.port}"
        assert served.stop() == 0


@pytest.mark.parametrize(
    ("name", "problem"),
    [("gone", "no such folder"), ("file", "not a folder"), (None, "the folder has no name")],
)
def test_a_root_that_is_no_folder_is_one_clear_line(
    tmp_path: Path, name: str | None, problem: str
) -> None:
    (tmp_path / "file").touch()
    root = str(tmp_path / name) if name else ""
    process = start(["--root", root, "-p", "0"], tmp_path / "state")
    assert process.wait(60) == 2
    assert problem in (tmp_path / "state" / "stderr").read_text()


def test_a_root_that_goes_away_and_a_state_folder_of_no_use_are_said(tmp_path: Path) -> None:
    root, state = tmp_path / "root", tmp_path / "state"
    with serving(root, state) as served:
        project = served.project("one", "right")
        runs = state / "runs"
        if runs.exists():
            runs.rmdir()
        runs.write_text("where the runs would be")
        answer = served.http.post("/api/runs", json=request(project))
        said = answer.json()
        assert (answer.status_code, said["error"]) == (507, "StateFolderError"), said
        runs.unlink()
        root.rename(tmp_path / "elsewhere")
        answer = served.http.post("/api/projects", json={"path": "."})
        assert (answer.status_code, answer.json()["message"]) == (
            404,
            f"the root {root} is gone",
        )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False).returncode:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_one_line_and_the_server_goes_on(tmp_path: Path, small_disk: Path) -> None:
    state = small_disk / "state"
    more = {"RETRAI_STATE_DIR": str(state), "PYTHONDONTWRITEBYTECODE": "1"}
    with serving(tmp_path / "root", tmp_path / "server", **more) as served:
        waiting = waiting_run(served, "one")
        filler = small_disk / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        project = served.project("two", "right")
        posts = (
            (507, "/api/runs", request(project)),
            (503, f"/api/runs/{waiting}/resume", {"decision": "approve"}),
        )
        for status, path, body in posts:
            answer = served.http.post(path, json=body)
            said = answer.json()
            assert answer.status_code == status, said
            assert "No space left on device" in said["message"]
            assert "\n" not in said["message"]
        assert [run["run_id"] for run in served.http.get("/api/runs").json()] == [waiting]
        filler.unlink()
        answer = served.http.post(f"/api/runs/{waiting}/resume", json={"decision": "approve"})
        assert answer.status_code == 200, answer.text
        assert served.wait(waiting)["status"] == "achieved"
        assert served.wait(served.start(project, put("right")))["status"] == "achieved"
    assert "Traceback" not in (tmp_path / "server" / "stderr").read_text()


def test_a_server_whose_messages_cannot_be_written_ends_all_the_same(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    state = tmp_path / "state"
    state.mkdir()
    (state / "stderr").symlink_to("/dev/full")
    with serving(tmp_path / "root", state) as served:
        assert served.stop() in (0, 120)  # Python's own code: it cannot flush
