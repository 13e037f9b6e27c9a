"""`file_patch`: replace one piece of a file."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from pydantic import Field

from retrai_core import RunContext, Tool, ToolArgs, ToolError, ToolOptions, ToolResult, Workspace

from .nearest import missing_file
from .patch_match import Patched, apply_patch
from .text_files import decode


class PatchArgs(ToolArgs):
    """What `file_patch` is asked."""

    path: str = Field(description="The file, relative to the project.")
    old: str = Field(
        description=(
            "The text that stands in the file now, exactly, with its indentation and without line "
            "numbers. It must occur once: take whole lines, and enough of them."
        )
    )
    new: str = Field(description="The text that replaces it; empty to delete it.")


class PatchOptions(ToolOptions):
    """Limits of `file_patch`."""

    max_bytes: int = Field(
        default=8_000_000, gt=0, description="maximum size of a file that it changes"
    )


class FilePatch(Tool[PatchArgs, PatchOptions]):
    """Replaces one piece of a file."""

    name: ClassVar[str] = "file_patch"
    description: ClassVar[str] = (
        "Replace one piece of a file of the project by another. `old` must occur exactly once; "
        "when it does not, the answer shows the nearest lines. Encoding and line ends are kept."
    )
    needs: ClassVar[frozenset[str]] = frozenset({"read", "write"})

    def summary(self, args: PatchArgs) -> str:
        """The path."""
        return args.path

    async def run(self, args: PatchArgs, context: RunContext) -> ToolResult:
        """Patch it."""
        done = await asyncio.to_thread(self._patch, context.workspace, args)
        last = done.first_line + max(done.new_lines, 1) - 1
        where = f"{done.first_line}" if last == done.first_line else f"{done.first_line} to {last}"
        note = f" ({done.note}, but only one place fits)" if done.note else ""
        counts = f"{done.old_lines} out, {done.new_lines} in"
        return ToolResult(
            f"patched {args.path} at line {where}: {counts}{note}",
            data={"first_line": done.first_line, "exact": not done.note},
        )

    def _patch(self, workspace: Workspace, args: PatchArgs) -> Patched:
        limit = self.options.max_bytes
        entry = workspace.stat(args.path)
        if entry is None:
            raise missing_file(workspace, args.path)
        data = workspace.read_bytes(args.path, limit + 1)
        if len(data) > limit:
            raise ToolError(f"{args.path!r} is larger than {limit} bytes")
        file = decode(data, args.path)
        done = apply_patch(file.text, args.old, args.new)
        workspace.write_bytes(args.path, file.encode(done.text))
        return done
