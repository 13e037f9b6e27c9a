"""What a run changed and no snapshot holds: files that were ignored before, and installed packages.

Source can load from there what no diff of the run shows.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from ..workspace.tree_hash import CACHE_FOLDERS
from ..workspace.tree_walk import ENVIRONMENT_MARK, NEVER_WALKED
from .left_out import INSTALLED

MAX_BYTES = 1_000_000
MAX_FILES = 500
_SKIPPED = NEVER_WALKED | CACHE_FOLDERS | {".cache", ".vite"}
_WORD = re.compile(r"\w+(?:-\w+)*")


def unseen_changes(project: Path, since_s: float, seen: Collection[str], diff: str) -> str:
    """A diff of such files, as if every line of theirs was added.

    Of what was ignored only that counts which a line that the run added names: a build writes many
    files, and those are made of what the diff shows.

    Args:
        project: the project.
        since_s: seconds since the epoch; files that were left alone since are not looked at.
        seen: what a snapshot holds, by relative path.
        diff: what the run changed there.
    """
    changed = {
        path: text
        for path in _changed(project, since_s)
        if path not in seen and (text := _text(project / path))
    }
    added = [line[1:] for line in diff.split("\n") if line.startswith("+")]
    named = {word for line in added for word in _WORD.findall(line)}
    chosen: dict[str, str] = {}
    while True:
        more = {p: t for p, t in changed.items() if p not in chosen and _is_named(p, named)}
        if not more or len(chosen) > MAX_FILES:
            break
        chosen |= more
        named |= {word for text in more.values() for word in _WORD.findall(text)}
    return "".join(as_added(path, text) for path, text in sorted(chosen.items()))


def _changed(project: Path, since_s: float) -> Iterator[str]:
    root = os.fspath(project)
    for base, folders, files in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if name not in _SKIPPED
            and not os.path.exists(os.path.join(base, name, ENVIRONMENT_MARK))
        )
        for name in sorted(files):
            path = os.path.join(base, name)
            try:
                status = os.lstat(path)
            except OSError:
                continue  # gone since it was listed
            # The change time cannot be set back, unlike that of the content.
            new = stat.S_ISREG(status.st_mode) and status.st_ctime > since_s
            if new and status.st_size <= MAX_BYTES:
                yield os.path.relpath(path, root)


def _is_named(path: str, named: Collection[str]) -> bool:
    parts = Path(path).parts
    if INSTALLED in parts:
        return True
    stem = parts[-1].partition(".")[0]
    # A folder stands for the file that it is loaded by.
    loaded = parts[-2:-1] if stem in ("index", "__init__", "mod", "main") else ()
    return any(name in named for name in (stem, *loaded))


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError:
        return ""  # closed to us, and so to the check
    return "" if b"\0" in data else data.decode("utf-8", errors="replace")


def as_added(path: str, text: str) -> str:
    """A diff that adds a file with this text."""
    lines = text.splitlines() or [""]
    body = "".join(f"+{line}\n" for line in lines)
    return f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{body}"
