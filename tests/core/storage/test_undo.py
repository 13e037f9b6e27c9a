"""Taking back what a run changed: byte for byte, and without touching what came after."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrai_core.storage.restore import Undone

Work = Any
"""A project and the snapshots of a run in it, see `conftest.py`."""

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


@pytest.fixture
def work(tmp_path: Path, new_work: Work) -> Work:
    """A project with a few files, as it stood before a run."""
    made = new_work(tmp_path)
    made.write("a.txt", b"".join(b"line %d\r\n" % i for i in range(20)))
    made.write("bin/tool", b"#!/bin/sh\n", 0o755)
    made.write("raw.bin", bytes(range(256)))
    (made.project / "link").symlink_to("a.txt")
    made.snapshot()
    return made


def test_changes_removals_and_additions_are_taken_back(work: Work) -> None:
    before = work.tree()
    work.write("a.txt", b"new\n")
    work.write("made/by/run.txt", b"x")
    (work.project / "raw.bin").unlink()
    (work.project / "bin" / "tool").chmod(0o644)
    (work.project / "link").unlink()
    (work.project / "link").symlink_to("raw.bin")
    work.snapshot()
    undone = work.undo()
    assert work.tree() == before
    assert not (work.project / "made").exists()
    assert sorted(undone.restored) == ["a.txt", "bin/tool", "link", "raw.bin"]
    assert undone.removed == ["made/by/run.txt"]


def test_a_file_that_became_a_folder_is_a_file_again(work: Work) -> None:
    before = work.tree()
    (work.project / "raw.bin").unlink()
    work.write("raw.bin/inside.txt", b"x")
    work.snapshot()
    work.undo()
    assert work.tree() == before


def test_what_the_user_changed_elsewhere_in_the_file_is_kept(work: Work) -> None:
    text = (work.project / "a.txt").read_bytes()
    work.write("a.txt", text.replace(b"line 3\r", b"line three\r"))
    work.snapshot()
    mine = (work.project / "a.txt").read_bytes().replace(b"line 15\r", b"my line\r")
    work.write("a.txt", mine)
    work.write("mine.txt", b"mine")
    undone = work.undo()
    assert undone.merged == ["a.txt"]
    assert (work.project / "a.txt").read_bytes() == text.replace(b"line 15\r", b"my line\r")
    assert (work.project / "mine.txt").read_bytes() == b"mine"


def test_what_the_user_changed_in_the_same_place_is_left_and_named(work: Work) -> None:
    work.write("a.txt", b"the run's\n")
    work.write("new.txt", b"the run's\n")
    work.snapshot()
    work.write("a.txt", b"mine\n")
    work.write("new.txt", b"mine\n")
    undone = work.undo()
    assert sorted(undone.conflicts) == ["a.txt", "new.txt"]
    assert (work.project / "a.txt").read_bytes() == b"mine\n"
    assert (work.project / "new.txt").read_bytes() == b"mine\n"


def test_a_run_can_be_taken_back_to_one_of_its_iterations(work: Work) -> None:
    work.write("a.txt", b"one\n")
    work.snapshot()
    work.write("a.txt", b"two\n")
    work.write("later.txt", b"x")
    work.snapshot()
    work.undo(to=1)
    assert (work.project / "a.txt").read_bytes() == b"one\n"
    assert not (work.project / "later.txt").exists()


def test_undoing_twice_changes_nothing_more(work: Work) -> None:
    work.write("a.txt", b"new\n")
    work.snapshot()
    work.undo()
    assert work.undo() == Undone()


def test_empty_folders_and_permission_bits_are_taken_back(work: Work) -> None:
    (work.project / "empty" / "inner").mkdir(parents=True)
    (work.project / "closed").mkdir(mode=0o700)
    work.write("secret.txt", b"x", 0o600)
    work.write("group.sh", b"x", 0o775)
    work.write("lonely/a.txt", b"x")
    (work.project / "lonely").chmod(0o750)
    work.snapshot()
    before = work.tree()
    shutil.rmtree(work.project / "lonely")
    (work.project / "empty" / "inner").rmdir()
    (work.project / "made").mkdir()
    (work.project / "closed").chmod(0o755)
    (work.project / "secret.txt").chmod(0o644)
    work.write("group.sh", b"y", 0o755)
    work.snapshot()
    undone = work.undo(to=1)
    assert work.tree() == before
    assert sorted(undone.restored) == ["group.sh", "lonely/a.txt", "secret.txt"]


def test_permission_bits_that_the_user_changed_since_are_kept(work: Work) -> None:
    work.write("a.sh", b"x", 0o755)
    work.snapshot()
    (work.project / "a.sh").chmod(0o700)
    work.snapshot()
    (work.project / "a.sh").chmod(0o500)
    work.undo(to=1)
    assert (work.project / "a.sh").stat().st_mode & 0o777 == 0o500


def test_files_of_a_repository_in_the_project_are_taken_back_too(work: Work) -> None:
    work.write("vendor/inner/.git/HEAD", b"ref: refs/heads/main\n")
    work.write("vendor/inner/code.py", b"one = 1\n")
    work.snapshot()
    before = work.tree()
    work.write("vendor/inner/code.py", b"one = 2\n")
    work.write("vendor/inner/more.py", b"two = 2\n")
    work.snapshot()
    work.undo(to=1)
    assert work.tree() == before


NAMES = st.sampled_from(["a", "b", "d", "d/a", "d/e/b", "ü", "with space"])
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("write"), NAMES, st.binary(max_size=40), st.booleans()),
        st.tuples(st.just("remove"), NAMES, st.just(b""), st.just(False)),
        st.tuples(st.just("folder"), NAMES, st.just(b""), st.booleans()),
        st.tuples(
            st.just("mode"), NAMES, st.sampled_from([b"600", b"775", b"640"]), st.just(False)
        ),
        st.tuples(st.just("link"), NAMES, st.sampled_from([b"a", b"nowhere"]), st.just(False)),
    ),
    max_size=6,
)


def change(project: Path, changes: list[tuple[str, str, bytes, bool]]) -> None:
    for what, name, data, executable in changes:
        path = project / name
        if any(parent.is_symlink() for parent in path.parents):
            continue
        if what == "mode":
            if path.exists() and not path.is_symlink():
                path.chmod(int(data, 8) | (0o100 if path.is_dir() else 0))
            continue
        for parent in reversed(path.relative_to(project).parents):
            if (project / parent).is_file():
                (project / parent).unlink()
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        if what == "folder":
            path.mkdir()
            path.chmod(0o700 if executable else 0o755)
        elif what == "link":
            path.symlink_to(os.fsdecode(data))
        elif what == "write":
            path.write_bytes(data)
            path.chmod(0o755 if executable else 0o644)


@settings(max_examples=25)
@given(first=CHANGES, run=st.lists(CHANGES, min_size=1, max_size=3))
def test_whatever_a_run_did_is_taken_back_byte_for_byte(
    new_work: Work,
    first: list[tuple[str, str, bytes, bool]],
    run: list[list[tuple[str, str, bytes, bool]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = new_work(Path(folder))
        change(work.project, first)
        work.snapshot()
        before = work.tree()
        for changes in run:
            change(work.project, changes)
            work.snapshot()
        assert work.undo().conflicts == []
        assert work.tree() == before


def test_a_second_undo_finds_nothing_left_to_do(work: Work) -> None:
    lines = [b"line %d\r\n" % i for i in range(20)]
    work.write("a.txt", b"".join([b"run\r\n", *lines[1:]]))
    work.snapshot()
    work.write("a.txt", b"".join([b"run\r\n", *lines[1:], b"user\r\n"]))
    assert work.undo().merged == ["a.txt"]
    after = work.tree()
    assert work.undo() == Undone()
    assert work.tree() == after
