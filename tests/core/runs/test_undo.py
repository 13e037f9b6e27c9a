"""Taking back what a run changed: byte for byte, and without touching what came after."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrai_core.runs.snapshots import Snapshots
from retrai_core.runs.undo import Undone, undo

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


class Work:
    """A project, and the snapshots of a run in it."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.project.mkdir()
        (folder / "run").mkdir()
        self.snapshots = Snapshots(folder / "run", self.project)
        self.iteration = 0

    def write(self, name: str, data: bytes, mode: int = 0o644) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode)

    def snapshot(self) -> None:
        self.snapshots.take(self.iteration)
        self.iteration += 1

    def undo(self, to: int = 0) -> Undone:
        return undo(self.snapshots, self.project, to)

    def tree(self) -> dict[str, tuple[str, bytes]]:
        """Everything but folders: kind and execute bit, and content or target."""
        found: dict[str, tuple[str, bytes]] = {}
        for path in sorted(self.project.rglob("*")):
            name = path.relative_to(self.project).as_posix()
            if path.is_symlink():
                found[name] = ("link", os.fsencode(path.readlink()))
            elif path.is_file():
                kind = "program" if path.stat().st_mode & 0o100 else "file"
                found[name] = (kind, path.read_bytes())
        return found


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """A project with a few files, as it stood before a run."""
    made = Work(tmp_path)
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


NAMES = st.sampled_from(["a", "b", "d/a", "d/e/b", "ü", "with space"])
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("write"), NAMES, st.binary(max_size=40), st.booleans()),
        st.tuples(st.just("remove"), NAMES, st.just(b""), st.just(False)),
        st.tuples(st.just("link"), NAMES, st.sampled_from([b"a", b"nowhere"]), st.just(False)),
    ),
    max_size=6,
)


def change(project: Path, changes: list[tuple[str, str, bytes, bool]]) -> None:
    for what, name, data, executable in changes:
        path = project / name
        if any(parent.is_symlink() for parent in path.parents):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if what == "link":
            path.symlink_to(os.fsdecode(data))
        elif what == "write":
            path.write_bytes(data)
            path.chmod(0o755 if executable else 0o644)


@settings(max_examples=25, deadline=None)
@given(first=CHANGES, run=st.lists(CHANGES, min_size=1, max_size=3))
def test_whatever_a_run_did_is_taken_back_byte_for_byte(
    first: list[tuple[str, str, bytes, bool]], run: list[list[tuple[str, str, bytes, bool]]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Work(Path(folder))
        change(work.project, first)
        work.snapshot()
        before = work.tree()
        for changes in run:
            change(work.project, changes)
            work.snapshot()
        assert work.undo().conflicts == []
        assert work.tree() == before
