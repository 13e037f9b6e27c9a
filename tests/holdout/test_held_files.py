"""Files leave a project and come back, whatever happens in between."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from retrai_core.guard.held_files import HeldFiles, holds_files_of, put_all_back, put_back, told
from retrai_core.workspace.lock import WorkspaceLock

HELD = ["tests/held/deep/test_b.py", "tests/held/run.sh", "tests/held/link", "tests/held/ünï.txt"]
CACHES = [".pytest_cache/v/nodeids"]
KILLED = 137


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "tests" / "held" / "deep").mkdir(parents=True)
    (folder / "tests" / "test_a.py").write_text("seen\n")
    (folder / "tests" / "held" / "deep" / "test_b.py").write_bytes(b"held\r\n\x00\xff")
    (folder / "tests" / "held" / "run.sh").write_text("#!/bin/sh\n")
    (folder / "tests" / "held" / "run.sh").chmod(0o755)
    (folder / "tests" / "held" / "ünï.txt").write_text("")
    (folder / "tests" / "held" / "link").symlink_to("../../nowhere")
    (folder / "tests" / "held").chmod(0o750)
    (folder / ".pytest_cache" / "v").mkdir(parents=True)
    (folder / ".pytest_cache" / "v" / "nodeids").write_text("test_b")
    os.utime(folder / "tests" / "held" / "run.sh", (1_000_000_000, 1_000_000_000))
    return folder


@pytest.fixture
def held(tmp_path: Path, project: Path) -> HeldFiles:
    return HeldFiles(project, tmp_path / "state/runs/r1/holdout", tmp_path / "state", "r1")


def tree(project: Path) -> dict[str, object]:
    """Every entry with its kind, mode, content, and a file's time."""
    found: dict[str, object] = {}
    for path in sorted(project.rglob("*")):
        name, status = path.relative_to(project).as_posix(), path.lstat()
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_dir():
            found[name] = status.st_mode
        else:
            found[name] = (status.st_mode, path.read_bytes(), status.st_mtime_ns)
    return found


def test_what_was_moved_out_comes_back_as_it_was(
    project: Path, held: HeldFiles, tmp_path: Path
) -> None:
    before = tree(project)
    held.move_out(HELD, CACHES)
    assert [p.name for p in project.rglob("*") if not p.is_dir()] == ["test_a.py"]
    assert holds_files_of(tmp_path / "state", "r1")
    back = held.put_back()
    assert back is not None
    assert (back.count, back.aside) == (len(HELD), [])
    assert tree(project) == before
    assert not holds_files_of(tmp_path / "state", "r1")
    assert held.put_back() is None


def dies_at(number: int, work: Callable[[], object]) -> bool:
    """Do the work in a child that is killed at its n-th touch of the file system; False when it
    came to its end before."""
    child = os.fork()
    if child == 0:
        count = 0

        def hook(event: str, _: object) -> None:
            nonlocal count
            if event.partition(".")[0] in ("open", "os", "shutil"):
                count += 1
                if count == number:
                    os._exit(KILLED)

        sys.addaudithook(hook)
        try:
            work()
        finally:
            os._exit(0 if sys.exc_info()[0] is None else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) in (0, KILLED)
    return os.waitstatus_to_exitcode(status) == KILLED


def test_no_kill_while_files_are_moved_out_loses_one(
    project: Path, held: HeldFiles, tmp_path: Path
) -> None:
    before = tree(project)
    number = 1
    while dies_at(number, lambda: held.move_out(HELD, CACHES)):
        put_all_back(tmp_path / "state")
        assert tree(project) == before, f"killed at touch {number}"
        number += 1
    assert number > 50, "the kills came too late to show anything"
    put_all_back(tmp_path / "state")
    assert tree(project) == before


def test_no_kill_while_files_are_put_back_loses_one(
    project: Path, held: HeldFiles, tmp_path: Path
) -> None:
    before = tree(project)
    number = 1
    while True:
        held.move_out(HELD, CACHES)
        killed = dies_at(number, held.put_back)
        put_all_back(tmp_path / "state")
        assert tree(project) == before, f"killed at touch {number}"
        if not killed:
            break
        number += 1
    assert number > 20


def test_what_stands_in_a_files_place_is_kept_aside(
    project: Path, held: HeldFiles, tmp_path: Path
) -> None:
    before = tree(project)
    held.move_out(HELD)
    (project / "tests" / "held" / "deep" / "test_b.py").parent.mkdir(parents=True)
    (project / "tests" / "held" / "deep" / "test_b.py").write_text("by someone else")
    (project / "tests" / "held" / "run.sh").mkdir()
    (project / "tests" / "held" / "run.sh" / "inside").write_text("more")
    back = held.put_back()
    assert back is not None
    assert sorted(path.name for path in back.aside) == ["run.sh", "test_b.py"]
    kept = {path.name: path for path in back.aside}
    assert kept["test_b.py"].read_text() == "by someone else"
    assert (kept["run.sh"] / "inside").read_text() == "more"
    now = tree(project)
    assert {name: now[name] for name in HELD} == {name: before[name] for name in HELD}


def test_what_was_kept_aside_outlives_the_next_time_the_run_holds_the_files_out(
    project: Path, held: HeldFiles, tmp_path: Path
) -> None:
    held.move_out(HELD)
    (project / "tests" / "held").mkdir()
    (project / "tests" / "held" / "run.sh").write_text("by someone else")
    back = held.put_back()
    assert back is not None
    held.move_out(HELD)
    held.put_back()
    assert [path.read_text() for path in back.aside] == ["by someone else"]
    assert str(back.aside[0]) in told(back)[0]
    assert holds_files_of(tmp_path / "state", "r1"), "so that `runs prune` keeps it"


def test_a_symlink_in_a_folders_place_leads_no_file_outside(
    project: Path, held: HeldFiles, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    held.move_out(HELD)
    (project / "tests" / "held").symlink_to(outside)
    held.put_back()
    assert list(outside.iterdir()) == []
    assert (project / "tests" / "held" / "deep" / "test_b.py").is_file()
    assert not (project / "tests" / "held").is_symlink()


def test_a_newer_cache_is_left_where_it_is(project: Path, held: HeldFiles) -> None:
    held.move_out(HELD, CACHES)
    (project / ".pytest_cache" / "v").mkdir(parents=True)
    (project / CACHES[0]).write_text("of the run")
    back = held.put_back()
    assert back is not None
    assert back.aside == []
    assert (project / CACHES[0]).read_text() == "of the run"


def test_a_run_that_is_alive_keeps_its_files_out(
    project: Path, held: HeldFiles, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    with WorkspaceLock(project, state, "r1"):
        held.move_out(HELD)
        assert put_all_back(state) == []
        assert not (project / "tests" / "held").exists()
        assert put_back(state, project) is not None
    assert (project / "tests" / "held").is_dir()


def test_files_of_a_project_that_is_gone_stay_in_the_runs_folder(
    project: Path, held: HeldFiles, tmp_path: Path
) -> None:
    held.move_out(HELD)
    project.rename(tmp_path / "elsewhere")
    assert put_all_back(tmp_path / "state") == []
    assert holds_files_of(tmp_path / "state", "r1")
    (tmp_path / "elsewhere").rename(project)
    assert [back.count for back in put_all_back(tmp_path / "state")] == [len(HELD)]
