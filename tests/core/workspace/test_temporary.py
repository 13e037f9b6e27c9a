"""What a killed process left in the temporary folder is removed, and nobody else's folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from retrai_core.workspace.temporary import remove_left_folders, temporary_prefix

LAY = """
import sys, tempfile, time
from pathlib import Path
from retrai_core.workspace.temporary import temporary_prefix
for start in ("retrai-scratch", "retrai-pytest", "tmp"):
    inner = Path(tempfile.mkdtemp(prefix=temporary_prefix(start)), "inner")
    inner.mkdir()
    (inner / "file").touch()
    inner.chmod(0)
print("laid", flush=True)
sys.stdin.read()
"""
GONE = 99_999_999
"""No process has such a number."""


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder of this test."""
    room = tmp_path / "temporary"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    return room


@pytest.fixture
def other(room: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has laid out its folders and waits."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", LAY],
        env={**os.environ, "TMPDIR": str(room)},
        stdin=pipe,
        stdout=pipe,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "laid\n"
        yield process
        process.kill()


def gone(start: str) -> str:
    """The prefix that a process which is gone gave its folders."""
    return temporary_prefix(start).replace(f"-{os.getpid()}.", f"-{GONE}.")


def test_what_a_killed_process_left_is_removed(room: Path, other: subprocess.Popen[str]) -> None:
    remove_left_folders()
    assert len(list(room.iterdir())) == 3, "it is alive"
    other.kill()
    other.wait()
    remove_left_folders()
    assert list(room.iterdir()) == []


def test_nothing_else_is_touched(room: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").touch()
    (room / f"{gone('retrai-final')}link").symlink_to(victim)
    (room / f"{gone('retrai-final')}file").touch()
    (room / f"retrai-final-{GONE}.1-otherspace").mkdir()
    (room / f"retrai-demo-{GONE}").mkdir()
    (room / f"{gone('somebody')}x").mkdir()
    (room / f"{temporary_prefix('retrai-final')}mine").mkdir()
    before = sorted(room.iterdir())
    remove_left_folders()
    assert sorted(room.iterdir()) == before
    assert list(victim.iterdir())


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to make another user's folder")
def test_a_folder_of_another_user_stays(room: Path) -> None:
    folder = room / f"{gone('retrai-final')}x"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    remove_left_folders()
    assert folder.exists()


def test_a_link_in_what_is_removed_is_not_followed(room: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir(mode=0o711)
    (victim / "file").touch()
    folder = room / f"{gone('retrai-final')}x"
    folder.mkdir()
    (folder / "link").symlink_to(victim)
    remove_left_folders()
    assert not folder.exists()
    assert (victim / "file").exists()
    assert victim.stat().st_mode & 0o777 == 0o711


def test_a_temporary_folder_that_is_missing_is_no_error(room: Path) -> None:
    room.rmdir()
    remove_left_folders()
    assert not room.exists()
