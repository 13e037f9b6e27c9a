"""`file_list`: what is in a folder."""

from __future__ import annotations

import asyncio
import posixpath
from typing import ClassVar

from pydantic import Field

from retrai_core import Entry, RunContext, Tool, ToolArgs, ToolOptions, ToolResult, Workspace

from .cutting import cut_lines, printable


class ListArgs(ToolArgs):
    """What `file_list` is asked."""

    path: str = Field(
        default=".", description="The folder, relative to the project; `.` is the project."
    )
    depth: int = Field(
        default=1,
        ge=1,
        le=20,
        description=(
            "How many levels to show. Below the first one, what `.gitignore` names and empty "
            "folders are left out."
        ),
    )


class ListOptions(ToolOptions):
    """Limits of `file_list`."""

    max_entries: int = Field(default=500, gt=0, description="maximum entries in one answer")


class FileList(Tool[ListArgs, ListOptions]):
    """Lists a folder."""

    name: ClassVar[str] = "file_list"
    description: ClassVar[str] = (
        "List a folder of the project: folders end in `/`, files show their size in bytes."
    )
    needs: ClassVar[frozenset[str]] = frozenset({"read"})

    def summary(self, args: ListArgs) -> str:
        """The folder."""
        return args.path

    async def run(self, args: ListArgs, context: RunContext) -> ToolResult:
        """List it."""
        entries = await asyncio.to_thread(_entries, context.workspace, args.path, args.depth)
        if not entries:
            return ToolResult("[the folder is empty]", data={"entries": 0})
        lines = [_line(entry) for entry in entries]
        limit = self.options.max_entries
        note = "[... {left} more entries; list a subfolder to see them]"
        if len(lines) > limit:
            lines[limit:] = [note.format(left=len(lines) - limit)]
        return ToolResult(cut_lines(lines, self.max_chars, note), data={"entries": len(entries)})


def _line(entry: Entry) -> str:
    name = printable(entry.path)
    if entry.kind == "folder":
        return f"{name}/"
    return f"{name} ({entry.size_bytes})" if entry.kind == "file" else f"{name} ({entry.kind})"


def _entries(workspace: Workspace, path: str, depth: int) -> list[Entry]:
    top = workspace.list_folder(path)
    if depth == 1:
        return top
    found = {entry.path: entry for entry in top}
    folder = posixpath.normpath(path)
    prefix = "" if folder == "." else f"{folder}/"
    for entry in workspace.walk(path):
        # A folder that is reached through a symlink gives paths that begin otherwise.
        if not entry.path.startswith(prefix):
            continue
        parts = entry.path.removeprefix(prefix).split("/")
        if len(parts) <= depth:
            found[entry.path] = entry
        for level in range(2, min(len(parts), depth + 1)):
            above = prefix + "/".join(parts[:level])
            found.setdefault(above, Entry(above, "folder"))
    return [found[name] for name in sorted(found)]
