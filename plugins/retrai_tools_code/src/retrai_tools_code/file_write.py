"""`file_write`: a whole new file, or a whole new content."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from pydantic import Field

from retrai_core import RunContext, Tool, ToolArgs, ToolError, ToolOptions, ToolResult, Workspace

from .text_files import lines_of


class WriteArgs(ToolArgs):
    """What `file_write` is asked."""

    path: str = Field(
        description="The file, relative to the project; missing folders above it are made."
    )
    content: str = Field(description="The file's whole content. It is written as UTF-8, as it is.")


class WriteOptions(ToolOptions):
    """Limits of `file_write`."""

    max_bytes: int = Field(
        default=2_000_000, gt=0, description="maximum size of a file that it writes"
    )


class FileWrite(Tool[WriteArgs, WriteOptions]):
    """Writes a whole file."""

    name: ClassVar[str] = "file_write"
    description: ClassVar[str] = (
        "Create a file of the project, or replace its whole content. To change a part of a file, "
        "use file_patch."
    )
    needs: ClassVar[frozenset[str]] = frozenset({"read", "write"})

    def summary(self, args: WriteArgs) -> str:
        """The path and the number of lines."""
        return f"{args.path} ({_count(args.content)})"

    async def run(self, args: WriteArgs, context: RunContext) -> ToolResult:
        """Write it."""
        try:
            data = args.content.encode()
        except UnicodeEncodeError:
            raise ToolError(
                "the content holds half of a surrogate pair, which is no text"
            ) from None
        if len(data) > self.options.max_bytes:
            raise ToolError(
                f"the content has {len(data)} bytes; at most {self.options.max_bytes} are written"
            )
        before = await asyncio.to_thread(_replace, context.workspace, args.path, data)
        lines = _count(args.content)
        if before is None:
            return ToolResult(f"created {args.path}: {lines}", data={"created": True})
        if before == data:
            return ToolResult(f"{args.path} already had exactly this content")
        was = _count(before.decode("utf-8", "replace"))
        return ToolResult(f"replaced {args.path}: {lines} (before: {was})")


def _count(text: str) -> str:
    count = len(lines_of(text))
    return "1 line" if count == 1 else f"{count} lines"


def _replace(workspace: Workspace, path: str, data: bytes) -> bytes | None:
    """Write the file; what it held before, or None where there was none."""
    entry = workspace.stat(path)
    before = None
    if entry is not None and entry.kind == "file":
        before = workspace.read_bytes(path)
    if before is None or before != data:
        workspace.write_bytes(path, data)
    return before
