"""One run at a time works in a project."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from retrai_core.errors import WorkspaceLockedError
from retrai_core.workspace.lock import WorkspaceLock

HOLD = """
import sys
from pathlib import Path
from retrai_core.workspace.lock import WorkspaceLock
with WorkspaceLock(Path(sys.argv[1]), Path(sys.argv[2]), "held-run"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    return tmp_path / "state"


def _holder(project: Path, state_dir: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(project), str(state_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_run_is_refused_and_told_which_one_works_there(
    project: Path, state_dir: Path
) -> None:
    with _holder(project, state_dir) as holder:
        same = project.parent / "same"
        same.symlink_to(project)
        with (
            pytest.raises(WorkspaceLockedError) as refused,
            WorkspaceLock(same, state_dir, "second"),
        ):
            pass
        holder.communicate()

    assert "held-run" in str(refused.value)
    assert str(holder.pid) in str(refused.value)
    assert "`retrai runs cancel held-run`" in refused.value.hint
    with WorkspaceLock(project, state_dir, "third"):
        pass


def test_a_killed_run_frees_the_project(project: Path, state_dir: Path) -> None:
    with _holder(project, state_dir) as holder:
        holder.send_signal(signal.SIGKILL)
        holder.wait()

        with WorkspaceLock(project, state_dir, "next"):
            pass


def test_two_projects_are_worked_on_side_by_side(project: Path, state_dir: Path) -> None:
    other = project.parent / "other"
    other.mkdir()
    with (
        WorkspaceLock(project, state_dir, "one") as one,
        WorkspaceLock(other, state_dir, "two") as two,
    ):
        assert one.path.exists()
        assert two.path.exists()
        assert one.path != two.path


def test_within_one_process_a_second_run_is_refused_too(project: Path, state_dir: Path) -> None:
    with (
        WorkspaceLock(project, state_dir, "one"),
        pytest.raises(WorkspaceLockedError, match="run one"),
        WorkspaceLock(project, state_dir, "two"),
    ):
        pass


FORK = """
import os
import select
import sys
from pathlib import Path
from retrai_core.workspace.lock import WorkspaceLock
with WorkspaceLock(Path(sys.argv[1]), Path(sys.argv[2]), "forking-run"):
    parent = os.getpid()
    if os.fork() == 0:
        while os.getppid() == parent:
            select.select([], [], [], 0.01)
        select.select([], [], [], 0.2)
        os._exit(0)
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_child_of_a_killed_run_that_has_not_yet_begun_is_waited_for(
    project: Path, state_dir: Path
) -> None:
    command = [sys.executable, "-c", FORK, str(project), str(state_dir)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        holder.kill()
        holder.wait()
        with WorkspaceLock(project, state_dir, "next"):
            pass
