"""What a run changed and no snapshot holds: files that were ignored before, and installed packages.

Source can load from there what no diff of the run shows.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..workspace.installed import INSTALLED
from ..workspace.tree_hash import CACHE_FOLDERS
from ..workspace.tree_walk import ENVIRONMENT_MARK, NEVER_WALKED

MAX_BYTES = 20_000_000
MAX_FILES = 3_000
"""Of all files together that are read; what is beyond is told."""
MAX_LED_TO = 100_000
"""Files and folders behind one link that are looked at; more count as changed."""
_SKIPPED = NEVER_WALKED | CACHE_FOLDERS
_CACHES = (".cache", ".vite")
"""What tools keep there is nobody's source, unless a line says the folder's name too."""
_WORD = re.compile(r"\w+(?:-\w+)*")
_MODULES = f"/{INSTALLED}/"
_DATA = re.compile(
    # A control character before any text or comment could have begun: ELF, PNG, gzip, SQLite, ...
    rb"[^'\"`/#\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]*[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]"
    # or no UTF-8 from the start (JPEG), or an archive of compiled code.
    rb"|[\x80-\xc1\xf5-\xff]|!<arch>\n"
)
"""How no program begins. One with a NUL in a comment is none of it."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file or symlink that was changed since a moment: its path in the project, and its size."""

    path: str
    size: int
    is_link: bool = False

    @property
    def is_installed(self) -> bool:
        """Whether it stands in `node_modules`."""
        return _MODULES in f"/{self.path}"

    @property
    def leads_elsewhere(self) -> bool:
        """Whether a link stands in the place of `node_modules` itself."""
        return self.is_link and os.path.basename(self.path) == INSTALLED


@dataclass(frozen=True, slots=True)
class Unseen:
    """What counts of such files.

    Attributes:
        diff: as if every line of theirs was added.
        unread: those beyond what is read at most.
    """

    diff: str
    unread: Sequence[str] = ()


def changed_files(project: Path, since_s: float) -> list[ChangedFile]:
    """Every file that was changed since, ignored or not; environments of Python are left out.

    Args:
        project: the project.
        since_s: seconds since the epoch.
    """
    return list(_changed(os.fspath(project), since_s))


def unseen_changes(
    project: Path, changed: Sequence[ChangedFile], seen: Collection[str], diff: str
) -> Unseen:
    """A diff of those that no snapshot holds and that count.

    Of what was ignored only that counts which a line that the run added names: a build writes many
    files, and those are made of what the diff shows.

    Args:
        project: the project.
        changed: what `changed_files` gave.
        seen: what a snapshot holds, and what is known to be as it should; by relative path.
        diff: what the run changed there.
    """
    waiting = {file.path: file for file in changed if file.path not in seen}
    named = {word for line in _added(diff) for word in _WORD.findall(line)}
    chosen: dict[str, str] = {}
    unread: list[str] = []
    left = MAX_BYTES
    folders: set[str] = set()
    while more := [
        file
        for path, file in waiting.items()
        if _is_named(path, named) or any(path.startswith(folder) for folder in folders)
    ]:
        for file in more:
            del waiting[file.path]
            if file.is_link:
                # What it leads to is loaded by its own name, a folder's files by whatever name.
                named |= set(_WORD.findall(_target(project / file.path)))
                folders.update(_led_to(project, file.path))
                continue
            if file.size > left or len(chosen) >= MAX_FILES:
                unread.append(file.path)
                continue
            text = _text(project / file.path)
            left -= file.size
            if text:
                chosen[file.path] = text
                named |= set(_WORD.findall(text))
    whole = "".join(as_added(path, text) for path, text in sorted(chosen.items()))
    return Unseen(whole, sorted(unread))


def _changed(root: str, since_s: float) -> Iterator[ChangedFile]:
    for base, folders, files in os.walk(root):
        place = os.path.relpath(base, root)
        installed = _MODULES in f"/{place}/"
        folders[:] = sorted(name for name in folders if _is_walked(base, name, installed))
        links = [name for name in folders if os.path.islink(os.path.join(base, name))]
        for name in sorted([*files, *links]):
            path = os.path.join(base, name)
            try:
                status = os.lstat(path)
            except OSError:
                continue  # gone since it was listed
            is_link = stat.S_ISLNK(status.st_mode)
            # The change time cannot be set back, unlike that of the content.
            if status.st_ctime > since_s and (
                stat.S_ISREG(status.st_mode) or (is_link and (installed or name == INSTALLED))
            ):
                yield ChangedFile(os.path.relpath(path, root), status.st_size, is_link)


def _is_walked(base: str, name: str, installed: bool) -> bool:
    if installed and os.path.basename(base) != INSTALLED:
        return True  # a package's own folders are loaded whatever they are called
    if name in _SKIPPED:
        return False
    return installed or not os.path.exists(os.path.join(base, name, ENVIRONMENT_MARK))


def _is_named(path: str, named: Collection[str]) -> bool:
    parts = Path(path).parts
    # A package's own folders are loaded whatever they are called.
    package = len(parts) - parts[::-1].index(INSTALLED) if INSTALLED in parts else len(parts)
    caches = [part[1:] for part in parts[: package + 1] if part in _CACHES]
    if not all(name in named for name in caches):
        return False
    if _MODULES in f"/{path}" and not caches:
        return True
    stem = parts[-1].partition(".")[0]
    # A folder stands for the file that it is loaded by.
    loaded = parts[-2:-1] if stem in ("index", "__init__", "mod", "main") else ()
    return any(name in named for name in (stem, *loaded))


def _added(diff: str) -> Iterator[str]:
    return (line[1:] for line in diff.split("\n") if line.startswith("+"))


def _target(path: Path) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _led_to(project: Path, link: str) -> Iterator[str]:
    """The folder in the project that a link leads to, as what the paths of its files begin with."""
    real = os.path.relpath(os.path.realpath(project / link), os.path.realpath(project))
    known = real == "." or real.startswith("..") or _MODULES in f"/{real}/"
    if not known and (project / real).is_dir():
        yield f"{real}/"


def leads_to_unwalked(project: Path, link: str, since_s: float) -> bool:
    """Whether a link leads to what was changed since where `changed_files` does not look.

    Args:
        project: the project.
        link: relative to it.
        since_s: seconds since the epoch.
    """
    root, real = os.path.realpath(project), os.path.realpath(project / link)
    if not os.path.exists(real):
        return False
    inside = os.path.relpath(real, root)
    if not inside.startswith(".."):
        folders = Path(inside).parts if os.path.isdir(real) else Path(inside).parts[:-1]
        above = [os.path.join(root, *folders[:at]) for at in range(len(folders))]
        if all(
            _is_walked(base, name, _MODULES in f"/{os.path.relpath(base, root)}/")
            for base, name in zip(above, folders, strict=True)
        ):
            return False
    return any(
        number >= MAX_LED_TO or _is_newer(path, since_s) for number, path in enumerate(_below(real))
    )


def _below(path: str) -> Iterator[str]:
    yield path
    for base, folders, files in os.walk(path):
        yield from (os.path.join(base, name) for name in (*folders, *files))


def _is_newer(path: str, since_s: float) -> bool:
    try:
        return os.lstat(path).st_ctime > since_s
    except OSError:
        return False  # gone since it was listed


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
