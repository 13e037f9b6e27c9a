"""`find_files`: files by a glob pattern."""

from __future__ import annotations

import asyncio
import posixpath
from typing import ClassVar

from pydantic import Field

from retrai_core import RunContext, Tool, ToolArgs, ToolOptions, ToolResult, Workspace

from .cutting import cut_lines, printable
from .globs import glob_matcher


class FindArgs(ToolArgs):
    """What `find_files` is asked."""

    pattern: str = Field(
        description=(
            "A glob: `*.py` finds by name in every folder, `src/**/test_*.py` by the whole path "
            "(relative to `path`). `**` crosses folders, `{py,toml}` is a choice."
        )
    )
    path: str = Field(default=".", description="The folder to look in, relative to the project.")
    ignored: bool = Field(default=False, description="Also find what `.gitignore` names.")


class FindOptions(ToolOptions):
    """Limits of `find_files`."""

    max_results: int = Field(default=500, gt=0, description="maximum paths in one answer")


class FindFiles(Tool[FindArgs, FindOptions]):
    """Finds files by name."""

    name: ClassVar[str] = "find_files"
    description: ClassVar[str] = (
        "Find files of the project by a glob pattern; gives their paths, sorted, one a line."
    )
    needs: ClassVar[frozenset[str]] = frozenset({"read"})

    def summary(self, args: FindArgs) -> str:
        """The pattern, and where."""
        return args.pattern if args.path == "." else f"{args.pattern} in {args.path}"

    async def run(self, args: FindArgs, context: RunContext) -> ToolResult:
        """Find them."""
        found = await asyncio.to_thread(_find, context.workspace, args)
        if not found:
            return ToolResult(f"no file fits {args.pattern!r}", data={"count": 0})
        lines = [printable(path) for path in found]
        limit = self.options.max_results
        note = "[... {left} more files; make the pattern narrower]"
        if len(lines) > limit:
            lines[limit:] = [note.format(left=len(lines) - limit)]
        return ToolResult(cut_lines(lines, self.max_chars, note), data={"count": len(found)})


def _find(workspace: Workspace, args: FindArgs) -> list[str]:
    fits = glob_matcher(args.pattern)
    folder = posixpath.normpath(args.path)
    base = "" if folder == "." else f"{folder}/"
    return [
        entry.path
        for entry in workspace.walk(args.path, ignored=args.ignored)
        if fits(entry.path.removeprefix(base))
    ]
