"""A tree's state changes with what a check could see, and with nothing else."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from retrai_core.workspace.tree_hash import TreeHasher, TreeState


def tree_state(root: Path) -> TreeState:
    """The state of a tree, taken once."""
    return TreeHasher(root).state()


def changed_paths(before: TreeState, after: TreeState) -> list[str]:
    """Paths that were added, removed or changed."""
    paths = after.files.keys() | before.files.keys()
    return sorted(path for path in paths if after.files.get(path) != before.files.get(path))


@pytest.fixture
def tree(project: Path) -> Path:
    files = {
        ".gitignore": ".venv/\n",
        "a.py": "x = 1\n",
        "src/b.py": "y = 2\n",
        ".venv/lib/c.py": "z = 3\n",
    }
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    (project / "link").symlink_to("a.py")
    return project


def _replace_link(tree: Path) -> None:
    (tree / "link").unlink()
    (tree / "link").symlink_to("src/b.py")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a.py": lambda tree: (tree / "a.py").write_text("x = 2\n"),
    "new.py": lambda tree: (tree / "new.py").write_text(""),
    "src/b.py": lambda tree: (tree / "src" / "b.py").unlink(),
    "link": _replace_link,
    ".gitignore": lambda tree: (tree / ".gitignore").chmod(0o755),
}


@pytest.mark.parametrize("path", CHANGES)
def test_a_change_is_seen_and_named(tree: Path, path: str) -> None:
    hasher = TreeHasher(tree)
    before = hasher.state()

    CHANGES[path](tree)

    after = hasher.state()
    assert after.digest != before.digest
    assert changed_paths(before, after) == [path]
    assert after.digest == tree_state(tree).digest


def test_a_change_of_the_same_size_with_the_old_times_is_seen(tree: Path) -> None:
    hasher = TreeHasher(tree)
    before = hasher.state()
    status = (tree / "a.py").stat()

    (tree / "a.py").write_text("x = 7\n")
    os.utime(tree / "a.py", ns=(status.st_atime_ns, status.st_mtime_ns))

    assert changed_paths(before, hasher.state()) == ["a.py"]


def test_an_ignored_file_counts_by_its_stat(tree: Path) -> None:
    hasher = TreeHasher(tree)
    before = hasher.state()

    (tree / ".venv" / "lib" / "c.py").write_text("z = 33\n")

    after = hasher.state()
    assert after.digest != before.digest
    assert changed_paths(before, after) == []


@pytest.mark.parametrize(
    "path",
    [
        ".git/index",
        ".retrai/memory.json",
        "src/__pycache__/b.pyc",
        ".pytest_cache/v/lastfailed",
        ".mypy_cache/x",
        ".ruff_cache/x",
        ".hypothesis/x",
        ".venv/lib/__pycache__/c.pyc",
    ],
)
def test_caches_do_not_count(tree: Path, path: str) -> None:
    before = tree_state(tree)

    (tree / path).parent.mkdir(parents=True)
    (tree / path).write_text("x")

    assert tree_state(tree).digest == before.digest


def test_what_cannot_be_read_is_part_of_the_state(tree: Path) -> None:
    os.mkfifo(tree / "pipe")
    (tree / "closed").write_text("x")
    (tree / "closed").chmod(0)

    state = tree_state(tree)

    assert state.files["pipe"].kind == "o"
    assert "closed" in state.files


def test_files_that_stayed_the_same_are_not_read_again(project: Path) -> None:
    class Reads:
        """Counts the files that are opened below the project."""

        count = 0

        def __call__(self, event: str, args: tuple[object, ...]) -> None:
            if event == "open" and isinstance(args[0], str) and args[0].startswith("f-"):
                self.count += 1

    for number in range(50):
        (project / f"f-{number}").write_text(str(number))
    hasher = TreeHasher(project)
    reads = Reads()
    sys.addaudithook(reads)
    first = hasher.state()
    assert reads.count == 50
    # Whatever was written in the last two seconds is read again; after that, nothing is.
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        reads.count = 0
        assert hasher.state().digest == first.digest
        if reads.count == 0:
            break

    assert reads.count == 0
    (project / "f-7").write_text("changed")
    assert changed_paths(first, hasher.state()) == ["f-7"]
    assert reads.count == 1
