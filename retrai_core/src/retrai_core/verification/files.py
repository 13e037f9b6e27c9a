"""The files that the guard looks at, and how it copies, compares and removes them."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from ..workspace.owners import give_to_owner_of, make_folders

CACHES = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".retrai"}
)
_NOT_THE_PROJECTS = CACHES | {".git", ".hg", ".svn", "node_modules", ".tox", ".nox"}

OWN = (".retrai/eval_harness.py",)
"""What retrai keeps in the project and a check can rest on; the rest of its own is passed over."""


def walk_project(project: Path) -> Iterator[str]:
    """Relative paths of the project's own files and symlinks, sorted.

    Ignored files are among them (a suite may be steered by one); caches, version control, virtual
    environments and node_modules are not: what they hold is the environment's, not the project's.
    """
    return (path for path, _ in project_entries(project))


def project_entries(project: Path) -> Iterator[tuple[str, bool]]:
    """The same, each with whether it is a symlink; no file is looked at to find out."""
    yield from ((name, False) for name in OWN if (project / name).is_file())
    for path, entry in walk(project, lambda entry: is_skipped(entry, _NOT_THE_PROJECTS)):
        yield path, entry.is_symlink()


def walk(
    root: Path, leaves_out: Callable[[os.DirEntry[str]], bool] = lambda _: False
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The files, symlinks and special files below a folder, each with its relative path.

    Args:
        root: the folder. Unreadable folders yield nothing.
        leaves_out: which entries, and all that is in them, are passed over.
    """
    for prefix, entries in folders(root, leaves_out):
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                yield f"{prefix}{entry.name}", entry


def folders(
    root: Path, leaves_out: Callable[[os.DirEntry[str]], bool] = lambda _: False
) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
    """Each folder, as the beginning of its entries' relative paths, with the entries by name."""
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            with os.scandir(root / prefix) as found:
                entries = [entry for entry in found if not leaves_out(entry)]
        except OSError:
            continue  # not readable by us, and so not by the runner
        entries.sort(key=lambda entry: entry.name)
        yield prefix, entries
        pending += [
            f"{prefix}{entry.name}/" for entry in entries if entry.is_dir(follow_symlinks=False)
        ]


def is_skipped(entry: os.DirEntry[str], names: frozenset[str]) -> bool:
    """Whether it is a folder with one of these names, or a virtual environment."""
    is_folder = entry.is_dir(follow_symlinks=False)
    return is_folder and (entry.name in names or is_virtual_environment(entry.path))


def is_virtual_environment(folder: str | Path) -> bool:
    """Whether the folder is a Python environment."""
    # Not `Path.is_file`, which raises where the folder is closed to us.
    return os.path.isfile(os.path.join(folder, "pyvenv.cfg"))


def fingerprint(path: Path) -> str:
    """SHA-256 of a file's kind, execute bit and content or target; empty when it is missing."""
    digest = hashlib.sha256()
    try:
        if path.is_symlink():
            digest.update(b"link:" + os.fsencode(path.readlink()))
        elif path.is_file():
            mode = b"x" if path.stat().st_mode & 0o100 else b"-"
            digest.update(b"file:" + mode + b":" + path.read_bytes())
        else:
            return ""
    except OSError:
        return ""
    return digest.hexdigest()


def read_small(path: Path, max_bytes: int) -> bytes | None:
    """The bytes of a regular file, or of the one that a link leads to; None where there is none (a
    pipe would be waited for), or it is larger or cannot be read."""
    with suppress(OSError):
        if path.is_file() and path.stat().st_size <= max_bytes:
            return path.read_bytes()
    return None


def copy_file(source: Path, target: Path) -> None:
    """Copy a file with its mode (as root with its owner), or a symlink as a symlink; missing
    folders are made."""
    make_folders(target.parent)
    shutil.copy2(source, target, follow_symlinks=False)
    give_to_owner_of(source, target)


def remove(path: Path) -> None:
    """Remove whatever is at `path`, a folder with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def clear_place(root: Path, path: Path) -> None:
    """Remove whatever is at `path`, and symlinks and files on the way to it from `root`.

    Nothing outside `root` is touched: what is written to `path` then lands below it.
    """
    for parent in reversed(path.relative_to(root).parents):
        above = root / parent
        if above.is_symlink() or (above.exists() and not above.is_dir()):
            remove(above)
    remove(path)
