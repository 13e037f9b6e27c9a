"""Audits what a run changed outside the snapshots: files that were ignored before it, and the
environment.

Source code can load such files, and no diff of the run shows them. Packages in `node_modules` are
not among them: the final check undoes changes there in its copy.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

from ..contracts.goal import Suspicion
from ..storage.snapshots import Snapshots
from ..workspace.installed import is_package, stands_in_modules
from ..workspace.tree_hash import CACHE_FOLDERS
from ..workspace.tree_walk import NEVER_WALKED
from .case_files import CODE
from .expected_files import is_expected_output
from .files import is_skipped, walk
from .guard import Guard

_MAX_SOURCES = 2_000
_MAX_SOURCE_BYTES = 1_000_000
MAX_BYTES = 20_000_000
"""Of all files together that are read; what is beyond is told."""
_SKIPPED = NEVER_WALKED | CACHE_FOLDERS
_CACHES = (".cache", ".vite")
"""What tools keep there is nobody's source, unless a line says the folder's name too."""
_PRINTED = re.compile(r"(?:^|[/._-])outputs?(?=[/._-]|$)|\.(?:out|stdout|stderr)$")
"""What the check prints, which may be kept in the repository."""
_WORD = re.compile(r"\w+(?:-\w+)*")
_LOADS = re.compile(
    r"^\+(?!\+).*\b(?:import\w*|require|include|source|from|exec|open|load\w*)\b.*|^\+\s*\. .*",
    re.MULTILINE,
)
"""A line of a file with code that may load another one."""
_DATA = re.compile(
    # A control character before any text or comment could have begun: ELF, PNG, gzip, SQLite, ...
    rb"[^'\"`/#\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]*[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]"
    # or no UTF-8 from the start (JPEG), or an archive of compiled code.
    rb"|[\x80-\xc1\xf5-\xff]|!<arch>\n"
)
"""How no program begins. One with a NUL in a comment is none of it."""


async def audit_around(guard: Guard, snapshots: Snapshots) -> list[Suspicion]:
    """What a goal considers suspect outside of the diff.

    Args:
        guard: of the run.
        snapshots: of the run.
    """
    context, since_s = guard.context, guard.baseline.taken_at
    outside = await context.goal.audit_environment(context.project, since_s)
    written = await asyncio.to_thread(_written_late, guard, snapshots)
    return [*outside, *written, *await asyncio.to_thread(_audit_ignored, guard, snapshots)]


def _written_late(guard: Guard, snapshots: Snapshots) -> list[Suspicion]:
    """What the check writes since the run; files that git ignores are what it builds."""
    first = snapshots.all()[:1] if snapshots.available else []
    kept = snapshots.entries(first[0]) if first else guard.baseline.protected
    what = "is written while the check runs, and was not before"
    found: list[Suspicion] = []
    for path in guard.baseline.written_late:
        decides = (
            guard.belongs_to_check(path)
            and not guard.is_allowed(path)
            and is_expected_output(path, in_check=True)
            and not _PRINTED.search(path)
        )
        if path in kept:
            found.append(Suspicion(path, 1, what, decides, "" if decides else "unchanged"))
    return found


def _audit_ignored(guard: Guard, snapshots: Snapshots) -> list[Suspicion]:
    """What the goal's audit finds in files that no snapshot holds, and what was too much."""
    goal, project = guard.context.goal, guard.context.project
    every = snapshots.all()
    if not snapshots.available or not every:
        return []
    known, since_s = snapshots.entries(every[-1]).keys(), guard.baseline.taken_at
    added = (line for line in snapshots.diff().split("\n") if line.startswith("+"))
    named = chain(_words(added), _loaded(snapshots, known))
    unseen, unread = unseen_changes(project, since_s, known, named)
    found = [each for each in goal.audit(unseen) if each.reaches_runner or each.sign]
    if found:
        # What is built from sources does what those do.
        usual = {_kind(each) for _, text in _sources(snapshots) for each in goal.audit(text)}
        found = [each for each in found if _kind(each) not in usual]
    if unread:
        more = len(unread) - 1
        what = "was not looked through, there is too much" + (
            f" (nor were {more} more files)" if more else ""
        )
        found.append(Suspicion(unread[0], 1, what, reaches_runner=True))
    return found


def _sources(snapshots: Snapshots) -> Iterator[tuple[str, str]]:
    """The first files of the run's beginning, each with a diff that adds it."""
    first = snapshots.all()[0]
    files = [(path, entry) for path, entry in snapshots.entries(first).items() if entry.is_file]
    with snapshots.store.reading() as read:
        for path, entry in files[:_MAX_SOURCES]:
            data = read(entry)
            if len(data) <= _MAX_SOURCE_BYTES and b"\0" not in data:
                yield path, as_added(path, data.decode("utf-8", errors="replace"))


def _loaded(snapshots: Snapshots, known: Collection[str]) -> Iterator[str]:
    """Words of lines that may load a file, but for what a known file is called: what is built has
    the names of its sources."""
    stems = {Path(path).stem for path in known}
    for path, text in _sources(snapshots):
        if CODE.search(path):
            yield from (word for word in _words(_LOADS.findall(text)) if word not in stems)


def _words(lines: Iterable[str]) -> Iterator[str]:
    return (word for line in lines for word in _WORD.findall(line))


def _kind(suspicion: Suspicion) -> str:
    return suspicion.what.partition(":")[0]


def unseen_changes(
    project: Path, since_s: float, seen: Collection[str], names: Iterable[str]
) -> tuple[str, list[str]]:
    """What was changed in files that no snapshot holds and that count.

    Of what was ignored only that counts which a line that the run added, or that loads a file,
    names: a build writes many files, and those are made of what the diff shows.

    Args:
        project: the project.
        since_s: seconds since the epoch.
        seen: what a snapshot holds, by relative path.
        names: words of such lines; they are asked for where anything was changed.

    Returns:
        a diff as if every line of theirs was added; and those that are beyond what is read.
    """
    waiting = {path: size for path, size in _changed(project, since_s) if path not in seen}
    named = set(names) if waiting else set[str]()
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
                named |= set(_words([text]))
    whole = "".join(as_added(path, text) for path, text in sorted(chosen.items()))
    return whole, sorted(unread)


def _changed(project: Path, since_s: float) -> Iterator[tuple[str, int]]:
    """Every file that was changed since, ignored or not, but for packages and environments, with
    its size in bytes."""

    def leaves_out(entry: os.DirEntry[str]) -> bool:
        return is_skipped(entry, _SKIPPED) or (stands_in_modules(entry) and is_package(entry.name))

    for path, entry in walk(project, leaves_out):
        with suppress(OSError):  # gone since it was listed
            status = entry.stat(follow_symlinks=False)
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
