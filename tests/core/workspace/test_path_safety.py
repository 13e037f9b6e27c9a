"""Whatever the path and whatever the symlinks: nothing outside the project is read or written."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from retrai_core import WorkspaceError
from retrai_core.workspace.safe_paths import SafeWorkspace

SECRET = b"the secret outside"
NAMES = ("a", "b", "c", "d", "link")
PART = st.sampled_from([*NAMES, "..", ".", "", "secret", "outside", "project"])
AWAY = ("/", "/etc", "{outside}", "{outside}/secret", "../outside", "../../outside", "..", "../..")
TARGET = st.one_of(
    st.sampled_from(AWAY),
    st.lists(PART, min_size=1, max_size=6).map("/".join),
    st.sampled_from(["{project}/a", "{project}/..", "{project}/../outside/secret"]),
)
TREE = st.lists(
    st.tuples(
        st.lists(st.sampled_from(NAMES), min_size=1, max_size=3),
        st.one_of(st.none(), TARGET, st.just(b"inside")),
    ),
    max_size=8,
)
LEAF = ("", "/secret", "/outside/secret", "/new", "/a/new", "/..", "/../outside/secret")
PATH = st.one_of(
    st.tuples(st.sampled_from(("link", *NAMES)), st.sampled_from(LEAF)).map("".join),
    st.lists(PART, min_size=1, max_size=6).map("/".join),
    st.text(max_size=20),
    st.sampled_from(["/etc/passwd", "{outside}/secret", "{project}/a", "~/x", "//", "a//b/."]),
)


@contextmanager
def _world() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "outside").mkdir()
        (folder / "outside" / "secret").write_bytes(SECRET)
        (folder / "project").mkdir()
        yield folder
    finally:
        shutil.rmtree(folder)


def _filled(text: str, world: Path) -> str:
    text = text.replace("{outside}", str(world / "outside"))
    return text.replace("{project}", str(world / "project"))


def _build(world: Path, tree: list[tuple[list[str], str | bytes | None]]) -> None:
    """Folders (None), symlinks (text) and files (bytes), as far as they fit beside each other."""
    for parts, what in tree:
        path = world / "project" / "/".join(parts)
        parent = path.parent
        if os.path.realpath(parent) != str(parent):
            continue  # it would be built through a symlink of the tree itself
        try:
            parent.mkdir(parents=True, exist_ok=True)
            if what is None:
                path.mkdir()
            elif isinstance(what, bytes):
                path.write_bytes(what)
            elif what:
                path.symlink_to(_filled(what, world))
        except OSError:
            continue


def _outside(world: Path) -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {}
    for folder, folders, files in os.walk(world):
        if folder == str(world):
            folders.remove("project")
        for name in files:
            found[os.path.join(folder, name)] = Path(folder, name).read_bytes()
    return found


@settings(max_examples=100)
@given(tree=TREE, away=st.sampled_from(AWAY), paths=st.lists(PATH, min_size=1, max_size=4))
def test_no_path_reads_or_writes_outside(
    tree: list[tuple[list[str], str | bytes | None]], away: str, paths: list[str]
) -> None:
    with _world() as world:
        _build(world, [(["link"], away), *tree])
        workspace = SafeWorkspace(world / "project")
        before = _outside(world)
        handles = len(os.listdir("/dev/fd"))
        for path in (_filled(path, world) for path in paths):
            try:
                data = workspace.read_bytes(path)
                assert SECRET not in data
                real = os.path.realpath(world / "project" / path)
                assert real.startswith(str(world / "project") + "/")
            except WorkspaceError:
                pass
            try:
                workspace.write_bytes(path, b"written")
                assert workspace.read_bytes(path) == b"written"
            except WorkspaceError:
                pass
            for look in (workspace.list_folder, workspace.stat, lambda p: list(workspace.walk(p))):
                try:
                    found = look(path)
                except WorkspaceError:
                    continue
                assert "secret" not in str(found) or "secret" in str(paths) + str(tree) + away
        assert _outside(world) == before
        assert len(os.listdir("/dev/fd")) == handles


@settings(max_examples=60)
@given(tree=TREE)
@example([(["a"], b"inside"), (["b"], "a/a/..")])
def test_what_can_be_opened_by_a_safe_path_is_the_file_that_the_system_opens(
    tree: list[tuple[list[str], str | bytes | None]],
) -> None:
    with _world() as world:
        _build(world, tree)
        project = world / "project"
        workspace = SafeWorkspace(project)
        for path in ("/".join(parts) for parts, _ in tree):
            try:
                expected = (project / path).read_bytes()
            except OSError:
                continue
            if not os.path.realpath(project / path).startswith(f"{project}/"):
                continue
            try:
                data = workspace.read_bytes(path)
            except WorkspaceError as error:
                # A way that leaves the project and comes back is refused too.
                words = str(error)
            else:
                words = "outside"
                assert data == expected
            assert "outside" in words


_EXCHANGE = 2  # renameat2(2)
_HERE = -100


def _exchange(one: Path, other: Path) -> None:
    """Swap two names at once: there is no moment in which one of them is missing."""
    libc = ctypes.CDLL(None, use_errno=True)
    done = libc.renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE)
    if done != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


@contextmanager
def _swapping(one: Path, other: Path) -> Iterator[Callable[[], bool]]:
    """Keep swapping two names; gives a function that says whether enough happened meanwhile."""
    target = os.readlink(other)
    stop = threading.Event()
    swaps = 0

    def swap() -> None:
        nonlocal swaps
        while not stop.is_set():
            _exchange(one, other)
            if not one.is_symlink() and not other.is_symlink():  # a write has replaced it
                other.unlink()
                other.symlink_to(target)
            swaps += 1

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield lambda: swaps > 200 or not thread.is_alive()
    finally:
        stop.set()
        thread.join()
    assert swaps > 200


@pytest.mark.skipif(sys.platform != "linux", reason="renameat2 is Linux's")
@pytest.mark.parametrize("name", ["door", "door/file"])
def test_what_is_swapped_for_a_symlink_meanwhile_leads_nowhere(tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(SECRET)
    project = tmp_path / "project"
    (project / "door").mkdir(parents=True)
    (project / "door" / "file").write_bytes(b"inside")
    (project / "evil").symlink_to(outside / Path(name).relative_to("door"))
    workspace = SafeWorkspace(project)
    answers = {"inside": 0, "refused": 0}

    with _swapping(project / name, project / "evil") as enough:
        for _ in range(100_000):
            try:
                assert workspace.read_bytes("door/file") == b"inside"
                assert all(entry.size_bytes != len(SECRET) for entry in workspace.walk("door"))
                workspace.write_bytes("door/file", b"inside")
                workspace.write_bytes("door/new", b"inside")
                answers["inside"] += 1
            except WorkspaceError:
                answers["refused"] += 1
            if min(answers.values()) >= 20 and enough():
                break

    assert min(answers.values()) >= 20
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == {"file": SECRET}
