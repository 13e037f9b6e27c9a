"""Changed files that no snapshot contains, because they were ignored before the run.

Source code can load them, and no diff of the run shows them. Packages in `node_modules` are not
among them: the final check undoes changes there in its copy.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from ..workspace.installed import is_package, stands_in_modules
from ..workspace.tree_hash import CACHE_FOLDERS
from ..workspace.tree_walk import NEVER_WALKED
from .files import is_skipped, walk

MAX_BYTES = 20_000_000
"""Of all files together that are read; what is beyond is told."""
_SKIPPED = NEVER_WALKED | CACHE_FOLDERS
_CACHES = (".cache", ".vite")
"""What tools keep there is nobody's source, unless a line says the folder's name too."""
_WORD = re.compile(r"\w+(?:-\w+)*")
_DATA = re.compile(
    # A control character before any text or comment could have begun: ELF, PNG, gzip, SQLite, ...
    rb"[^'\"`/#\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]*[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]"
    # or no UTF-8 from the start (JPEG), or an archive of compiled code.
    rb"|[\x80-\xc1\xf5-\xff]|!<arch>\n"
)
"""How no program begins. One with a NUL in a comment is none of it."""


def unseen_changes(
    project: Path, since_s: float, seen: Collection[str], diff: str
) -> tuple[str, list[str]]:
    """What was changed in files that no snapshot holds and that count.

    Of what was ignored only that counts which a line that the run added names: a build writes many
    files, and those are made of what the diff shows.

    Args:
        project: the project.
        since_s: seconds since the epoch.
        seen: what a snapshot holds, by relative path.
        diff: what the run changed there.

    Returns:
        a diff as if every line of theirs was added; and those that are beyond what is read.
    """
    waiting = {path: size for path, size in _changed(project, since_s) if path not in seen}
    named = {word for line in _added(diff) for word in _WORD.findall(line)}
    chosen: dict[str, str] = {}
    unread: list[str] = []
    left = MAX_BYTES
    while more := [path for path in waiting if _is_named(path, named)]:
        for path in more:
            size = waiting.pop(path)
            if size > left:
                unread.append(path)
                continue
            left -= size
            if text := _text(project / path):
                chosen[path] = text
                named |= set(_WORD.findall(text))
    whole = "".join(as_added(path, text) for path, text in sorted(chosen.items()))
    return whole, sorted(unread)


def _changed(project: Path, since_s: float) -> Iterator[tuple[str, int]]:
    """Every file that was changed since, ignored or not, but for packages and environments, with
    its size in bytes."""

    def leaves_out(entry: os.DirEntry[str]) -> bool:
        return is_skipped(entry, _SKIPPED) or (stands_in_modules(entry) and is_package(entry.name))

    for path, entry in walk(project, leaves_out):
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue  # gone since it was listed
        # The change time cannot be set back, unlike that of the content.
        if stat.S_ISREG(status.st_mode) and status.st_ctime > since_s:
            yield path, status.st_size


def _is_named(path: str, named: Collection[str]) -> bool:
    parts = Path(path).parts
    if not all(part[1:] in named for part in parts if part in _CACHES):
        return False
    stem = parts[-1].partition(".")[0]
    # A folder stands for the file that it is loaded by.
    loaded = parts[-2:-1] if stem in ("index", "__init__", "mod", "main") else ()
    return any(name.lstrip(".") in named for name in (stem, *loaded))


def _added(diff: str) -> Iterator[str]:
    return (line[1:] for line in diff.split("\n") if line.startswith("+"))


def _text(path: Path) -> str:
    """A file as text; empty for data, which no interpreter takes for a program."""
    try:
        data = path.read_bytes()
    except OSError:
        return ""  # closed to us, and so to the check
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    if _DATA.match(data):
        return ""
    return data.replace(b"\0", b" ").decode("utf-8", errors="replace")


def as_added(path: str, text: str) -> str:
    """A diff that adds a file with this text."""
    lines = text.splitlines() or [""]
    body = "".join(f"+{line}\n" for line in lines)
    return f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{body}"
