"""Access to the project's files, with nothing outside the project reachable."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from ..contracts.workspace import Entry, Workspace
from ..errors import WorkspaceError
from .atomic_write import write_atomically
from .beneath import Place, explained, open_file, parts_of, reach
from .ignore_rules import RulesReader
from .repository_paths import why_not_written
from .touched import MAX_BYTES, touched_now
from .tree_walk import open_folder, walk_tree


class SafeWorkspace(Workspace):
    """Reads and writes below one folder, even if the tree changes meanwhile.

    A symlink whose target lies in the project is followed; one that leads outside is refused. What
    belongs to version control (`.git`) can be read and is never written. It keeps no file open, and
    may be used from several threads.

    Attributes:
        root: the project's real absolute path.
        refuse_write: set by the guard: the reason why a path may not be written, or None. It is
            asked for the path as given and for the one that symlinks lead to.
        on_refused: hears of each refused write: the path and the reason.
        refuse_read: the reason why a path may not be read or listed, or None; asked like the other.
            No listing names such a path.

    Raises:
        WorkspaceError: the folder does not exist.

    Example:
        >>> import tempfile
        >>> workspace = SafeWorkspace(Path(tempfile.mkdtemp()))
        >>> workspace.write_bytes("src/a.py", b"x = 1\\n")
        >>> workspace.read_bytes("src/a.py")
        b'x = 1\\n'
        >>> workspace.read_bytes("../secret")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        retrai_core.errors.WorkspaceError: '../secret' goes up with `..` (...)
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        if not self.root.is_dir():
            raise WorkspaceError(f"{str(root)!r} is not a folder")
        self.refuse_write: Callable[[str], str | None] | None = None
        self.on_refused: Callable[[str, str], None] | None = None
        self.refuse_read: Callable[[str], str | None] | None = None
        self._rules = RulesReader()

    def read_bytes(self, path: str, max_bytes: int | None = None) -> bytes:
        """The file's bytes, at most `max_bytes` of them."""
        with reach(self.root, path) as place:
            self._ask_reader(path, place.real)
            try:
                with open_file(place.folder, place.name) as file:
                    content = file.read(-1 if max_bytes is None else max_bytes)
            except OSError as error:
                raise explained(error, path) from error
            if (touched := touched_now()) is not None:
                touched.read[place.real] = None
        return content

    def write_bytes(self, path: str, data: bytes) -> None:
        """Write the whole file atomically; missing folders are made; an existing mode is kept."""
        given = "/".join(parts_of(self.root, path)) or "."
        self._ask_guard(given)

        def ask(real: str) -> None:
            if real != given:
                self._ask_guard(real)

        with reach(self.root, path, before_making=ask) as place:
            ask(place.real)
            touched = touched_now()
            before = None if touched is None else _before(place)
            write_atomically(place, path, data)
            if touched is not None:
                touched.note_write(place.real, before, data)

    def _ask_guard(self, path: str) -> None:
        reason = why_not_written(self.root, path)
        if reason is None and self.refuse_write is not None:
            reason = self.refuse_write(path)
        if reason is not None:
            if self.on_refused is not None:
                self.on_refused(path, reason)
            raise WorkspaceError(reason)

    def _ask_reader(self, given: str, real: str) -> None:
        if self.refuse_read is None:
            return
        for path in (given, real):
            if reason := self.refuse_read(path):
                raise WorkspaceError(reason)

    def _is_listed(self, path: str) -> bool:
        return self.refuse_read is None or self.refuse_read(path) is None

    def list_folder(self, path: str = ".") -> list[Entry]:
        """The folder's entries, sorted by path."""
        prefix = "".join(f"{part}/" for part in parts_of(self.root, path))
        with reach(self.root, path) as place:
            self._ask_reader(path, place.real)
        handle = open_folder(self.root, path)
        found: list[Entry] = []
        try:
            with os.scandir(handle) as entries:
                for entry in entries:
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue  # it went away meanwhile
                    found.append(_entry(prefix + entry.name, status))
        except OSError as error:
            raise explained(error, path) from error
        finally:
            os.close(handle)
        listed = (entry for entry in found if self._is_listed(entry.path))
        return sorted(listed, key=lambda entry: entry.path)

    def walk(self, path: str = ".", *, ignored: bool = False) -> Iterator[Entry]:
        """Every file and symlink below `path`, sorted; see the contract for what is left out."""
        with reach(self.root, path) as place:
            start = place.real
            self._ask_reader(path, start)
        os.close(open_folder(self.root, start))
        for found in walk_tree(self.root, start, reader=self._rules, with_ignored=ignored):
            entry = _entry(found.path, found.stat)
            if entry.kind in ("file", "symlink") and self._is_listed(entry.path):
                yield entry

    def stat(self, path: str) -> Entry | None:
        """The entry at `path`, or None where nothing is; a symlink at its end is not followed."""
        name = "/".join(parts_of(self.root, path)) or "."
        try:
            with reach(self.root, path, follow_last=False) as place:
                self._ask_reader(path, place.real)
                status = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
        except WorkspaceError as error:
            if isinstance(error.__cause__, (FileNotFoundError, NotADirectoryError)):
                return None
            raise
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise explained(error, path) from error
        return _entry(name, status)


def _before(place: Place) -> bytes | None:
    """What a file that is about to be written holds; of a large one only the beginning."""
    try:
        with open_file(place.folder, place.name) as file:
            return file.read(MAX_BYTES + 1)
    except OSError:
        return None


def _entry(path: str, status: os.stat_result) -> Entry:
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return Entry(path, "file", status.st_size)
    if stat.S_ISDIR(mode):
        return Entry(path, "folder")
    return Entry(path, "symlink" if stat.S_ISLNK(mode) else "other")
