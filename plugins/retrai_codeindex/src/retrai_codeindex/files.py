"""Which files of a project are indexed: what ignore files leave, without the unreadable.

`.gitignore` and `.ignore` files hold as in git: the nearest that says anything decides. Symlinks
are not followed, so no loop is entered and nothing outside the project is read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".ignore")
NEVER_WALKED = frozenset({".git", ".hg", ".svn", ".retrai", "__pycache__"})
VENDORED = frozenset({"node_modules", "bower_components", "third_party", "vendor", "vendored"})
"""Folders of other people's code; so is every virtual environment (`pyvenv.cfg`)."""
MAX_PARSED_BYTES = 1_000_000
"""A larger file is indexed by blocks, and is not parsed."""
MAX_BYTES = 20_000_000
"""A larger file is not indexed."""
MAX_LINE = 5_000
"""A file of code whose lines are on average longer than a tenth of this is minified."""
_MAX_RULES_BYTES = 1_000_000


class Found(NamedTuple):
    """A file that may be indexed.

    Attributes:
        path: relative to the project, with forward slashes.
        size: in bytes.
        mtime_ns: time of the last change of the content.
        inode: its number, which a file that replaces another by a rename does not share.
    """

    path: str
    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class _Rules:
    prefix: int
    spec: GitIgnoreSpec
    above: _Rules | None

    def ignores(self, path: str) -> bool:
        include = self.spec.check_file(path[self.prefix :]).include
        if include is not None:
            return include
        return self.above is not None and self.above.ignores(path)


def walk(root: Path, vendored: list[str] | None = None) -> Iterator[Found]:
    """Every file below the project's folder that no ignore file names.

    Args:
        root: the project's folder.
        vendored: is given the folders that are left out as vendored.
    """
    top = os.fspath(root)
    stack: list[tuple[str, _Rules | None]] = [("", None)]
    while stack:
        base, above = stack.pop()
        try:
            with os.scandir(os.path.join(top, base)) as listing:
                entries = list(listing)
        except OSError:
            continue  # it cannot be read, or went away meanwhile
        names = {entry.name for entry in entries}
        if "pyvenv.cfg" in names and base:
            if vendored is not None:
                vendored.append(base)
            continue
        rules = above
        for name in IGNORE_FILES:
            if name in names:
                rules = _read_rules(os.path.join(top, base, name), base, rules)
        yield from _files(base, entries, rules, stack, vendored)


def _files(
    base: str,
    entries: list[os.DirEntry[str]],
    rules: _Rules | None,
    stack: list[tuple[str, _Rules | None]],
    vendored: list[str] | None,
) -> Iterator[Found]:
    prefix = f"{base}/" if base else ""
    for entry in entries:
        path = prefix + entry.name
        if entry.is_dir(follow_symlinks=False):
            if entry.name in NEVER_WALKED or (rules is not None and rules.ignores(f"{path}/")):
                continue
            if entry.name in VENDORED:
                if vendored is not None:
                    vendored.append(path)
                continue
            stack.append((path, rules))
            continue
        if rules is not None and rules.ignores(path):
            continue
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        # A name that is no text cannot be shown, typed or stored.
        if stat.S_ISREG(status.st_mode) and _is_text(path):
            yield Found(path, status.st_size, status.st_mtime_ns, status.st_ino)


def _is_text(path: str) -> bool:
    if path.isascii():
        return True
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_rules(path: str, base: str, above: _Rules | None) -> _Rules | None:
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_RULES_BYTES)
    except OSError:
        return above
    lines = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff").splitlines()
    if not any(line.strip() and not line.startswith("#") for line in lines):
        return above
    try:
        spec = GitIgnoreSpec.from_lines(lines)
    except ValueError:
        spec = GitIgnoreSpec.from_lines(line for line in lines if _is_valid(line))
    return _Rules(len(base) + 1 if base else 0, spec, above)


def _is_valid(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def read_bytes(root: Path, path: str) -> bytes | None:
    """A file's content, at most `MAX_BYTES + 1` of it; None if it is no regular file any more."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(os.path.join(root, path), flags)
    except OSError:
        return None
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        try:
            return file.read(MAX_BYTES + 1)
        except OSError:
            return None


def decode(data: bytes) -> str | None:
    """The text of a file, with `\\n` between lines; None for what is no text."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
    elif b"\0" in data[:65_536]:
        return None
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            # An old encoding, or one that lies: every byte is a letter of Latin-1.
            text = data.decode("latin-1")
            if sum(char < " " and char not in "\n\r\t\f\x1b" for char in text[:4096]) > 40:
                return None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
