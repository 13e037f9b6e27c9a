"""As root in another user's project: what retrai writes there belongs to that user."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from retrai_core.storage.git_store import FILE, Entry
from retrai_core.storage.restore import put_entry
from retrai_core.verification.files import copy_file
from retrai_core.workspace.safe_paths import SafeWorkspace

pytestmark = pytest.mark.skipif(
    os.getuid() != 0, reason="needs root, who may make another user's files"
)
OWNER = (1234, 2345)


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, *OWNER)
    return folder


def owners(folder: Path) -> set[tuple[int, int]]:
    return {(path.lstat().st_uid, path.lstat().st_gid) for path in folder.rglob("*")}


def test_new_files_and_folders_of_tools(theirs: Path) -> None:
    workspace = SafeWorkspace(theirs)
    workspace.write_bytes("a.py", b"x = 1\n")
    workspace.write_bytes("src/deep/b.py", b"x = 1\n")
    assert owners(theirs) == {OWNER}


def test_a_file_keeps_an_owner_of_its_own(theirs: Path) -> None:
    (theirs / "a.py").write_text("x = 1\n")
    os.chown(theirs / "a.py", 4321, 0)
    SafeWorkspace(theirs).write_bytes("a.py", b"x = 2\n")
    assert owners(theirs) == {(4321, 0)}


def test_protected_files_that_the_guard_puts_back(theirs: Path, tmp_path: Path) -> None:
    kept = tmp_path / "state" / "files" / "tests" / "test_a.py"
    (theirs / "tests").mkdir()
    (theirs / "tests" / "test_a.py").write_text("def test_a(): ...\n")
    for path in theirs.rglob("*"):
        os.chown(path, *OWNER)
    copy_file(theirs / "tests" / "test_a.py", kept)
    (theirs / "tests" / "test_a.py").unlink()
    (theirs / "tests").rmdir()
    copy_file(kept, theirs / "tests" / "test_a.py")
    assert owners(theirs) == {OWNER}


def test_what_is_undone(theirs: Path) -> None:
    entry = Entry(FILE, "")
    assert put_entry(theirs / "sub" / "new.txt", entry, b"one")
    assert put_entry(theirs / "sub" / "new.txt", entry, b"one")
    assert owners(theirs) == {OWNER}
