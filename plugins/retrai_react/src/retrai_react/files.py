"""Files of a project, for the prompt: never outside the project, never a device, never too much."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from retrai_core import SafeWorkspace, WorkspaceError

MAX_FOLDER_FILES = 10
MAX_FILE_BYTES = 1_000_000
_MENTION = re.compile(r"(?<![\w@/.])@(?:(?:file|folder):)?(?:\"([^\"\n]+)\"|([\w.~/\\-]+))")
_PATH_LIKE = re.compile(r"[/.]")


@dataclass(frozen=True)
class Snippet:
    """A piece of text for the prompt.

    Attributes:
        title: what it is, one line.
        text: the text.
    """

    title: str
    text: str


def split_mentions(query: str) -> tuple[str, list[str]]:
    """The query without `@file:path`, `@folder:path` and `@path`, and these paths.

    A name without a slash or a dot behind a plain `@` is a person's, and stays.

    Example:
        >>> split_mentions("compare @file:a.py with @src/b.py, @anna")
        ('compare with, @anna', ['a.py', 'src/b.py'])
    """
    paths: list[str] = []

    def take(found: re.Match[str]) -> str:
        path = found[1] or found[2]
        rest = ""
        if found[1] is None:
            path, rest = path.rstrip("."), "." * (len(path) - len(path.rstrip(".")))
        is_named = found[0].startswith(("@file:", "@folder:")) or found[1]
        if not path or not (is_named or _PATH_LIKE.search(path)):
            return found[0]
        paths.append(path)
        return rest

    text = _MENTION.sub(take, query)
    if not paths:
        return query, []
    text = re.sub(r"[ \t]+([,.;:!?])", r"\1", re.sub(r"[ \t]{2,}", " ", text))
    return text.strip(), paths


class ProjectFiles:
    """Reads the files of one project.

    Args:
        folder: the project's.

    Raises:
        WorkspaceError: it is gone.
    """

    def __init__(self, folder: Path) -> None:
        self._files = SafeWorkspace(folder)

    def read(self, path: str, max_bytes: int = MAX_FILE_BYTES) -> str:
        """The text of a file, at most so much of it.

        Raises:
            WorkspaceError: it is outside the project, no regular file, unreadable or binary.
        """
        content = self._files.read_bytes(self.inside(path), max_bytes)
        if b"\0" in content[:8_192]:
            raise WorkspaceError(f"{path!r} is binary")
        return content.decode("utf-8", "replace")

    def lines(self, path: str, start: int, end: int) -> str:
        """Some lines of a file, the first one being 1.

        Raises:
            WorkspaceError: as `read`.
        """
        return "".join(self.read(path).splitlines(keepends=True)[start - 1 : end])

    def snippets(self, path: str, max_bytes: int = MAX_FILE_BYTES) -> Iterator[Snippet]:
        """A file, or the first files of a folder that can be read.

        Raises:
            WorkspaceError: as `read`.
        """
        path = self.inside(path)
        if not self.is_folder(path):
            yield Snippet(path, self.read(path, max_bytes))
            return
        read = 0
        for entry in self._files.walk(path):
            hidden = any(part.startswith(".") for part in entry.path.split("/"))
            if entry.kind != "file" or hidden:
                continue
            try:
                yield Snippet(entry.path, self.read(entry.path, max_bytes))
            except WorkspaceError:  # binary, or gone
                continue
            read += 1
            if read == MAX_FOLDER_FILES:
                return

    def is_folder(self, path: str) -> bool:
        """Whether a path leads to a folder.

        Raises:
            WorkspaceError: it leads outside.
        """
        entry = self._files.stat(path)
        if entry is not None and entry.kind == "symlink":
            try:
                self._files.list_folder(path)
            except WorkspaceError:
                return False
            return True
        return entry is not None and entry.kind == "folder"

    def inside(self, path: str) -> str:
        """The path relative to the project; an absolute one must lie in it.

        Raises:
            WorkspaceError: it lies elsewhere.
        """
        if "\0" in path or len(path) > 4_096:
            raise WorkspaceError("a path may have 4096 characters, and no NUL")
        path = path.strip().replace("\\", "/").removeprefix("./") or "."
        if path.startswith("/"):
            root = f"{self._files.root}/"
            if not f"{path}/".startswith(root):
                raise WorkspaceError(f"{path!r} lies outside the project")
            path = path[len(root) :] or "."
        return path.rstrip("/") or "."
