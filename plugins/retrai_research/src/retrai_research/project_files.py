"""The lines of the project's files, as the run may read them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from retrai_core import Workspace, WorkspaceError

_SNIFFED_BYTES = 8192
MAX_BYTES = 20_000_000
"""A larger file counts as none."""


class ProjectFiles:
    """Reads each file once.

    Args:
        workspace: the run's.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._known: dict[str, Sequence[str] | None] = {}

    def lines(self, path: str) -> Sequence[str] | None:
        """The lines of a file, by its path relative to the project; None where there is none."""
        if path not in self._known:
            self._known[path] = self._read(path)
        return self._known[path]

    def digest(self, path: str) -> str:
        """A hash of a file's lines; empty where there is none."""
        lines = self.lines(path)
        if lines is None:
            return ""
        text = "\n".join(lines).encode("utf-8", "surrogatepass")
        return hashlib.sha256(text).hexdigest()[:16]

    def _read(self, path: str) -> Sequence[str] | None:
        try:
            entry = self.workspace.stat(path)
            if entry is None or entry.kind == "folder" or entry.size_bytes > MAX_BYTES:
                return None
            data = self.workspace.read_bytes(path)
        except (WorkspaceError, ValueError):
            return None
        return None if b"\0" in data[:_SNIFFED_BYTES] else _lines(data)


def _lines(data: bytes) -> list[str]:
    """As the file tools count them: only `\\n` and `\\r\\n` end a line."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
