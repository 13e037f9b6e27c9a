"""`file_read`: the text of a file, or a range of its lines."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from pydantic import Field

from retrai_core import RunContext, Tool, ToolArgs, ToolError, ToolOptions, ToolResult, Workspace

from .nearest import missing_file
from .text_files import TextFile, decode, lines_of

MAX_OPENED_BYTES = 64_000_000
"""A larger file is not read at all, not even for a range of its lines."""


class ReadArgs(ToolArgs):
    """What `file_read` is asked."""

    path: str = Field(description="The file, relative to the project, as in `src/shop/cart.py`.")
    start_line: int | None = Field(
        default=None, ge=1, description="First line to show, counted from 1; left out, the first."
    )
    end_line: int | None = Field(
        default=None, ge=1, description="Last line to show, itself included; left out, the last."
    )
    line_numbers: bool = Field(
        default=False,
        description=(
            "Put the number and a tab before each line. They are not part of the file: leave them "
            "out of what you give to file_patch."
        ),
    )


class ReadOptions(ToolOptions):
    """Limits of `file_read`."""

    max_bytes: int = Field(default=200_000, gt=0, description="maximum bytes of one answer")
    max_chars: int = Field(
        default=201_000, gt=0, description="maximum length of an answer, in characters"
    )


class FileRead(Tool[ReadArgs, ReadOptions]):
    """Shows a file's text."""

    name: ClassVar[str] = "file_read"
    description: ClassVar[str] = (
        "Read a text file of the project, whole or a range of its lines. An answer is at most "
        "200 kB unless configured otherwise; it says when there is more."
    )
    needs: ClassVar[frozenset[str]] = frozenset({"read"})

    def summary(self, args: ReadArgs) -> str:
        """The path, and the range where one is given."""
        if args.start_line is None and args.end_line is None:
            return args.path
        return f"{args.path}:{args.start_line or 1}-{args.end_line or ''}"

    async def run(self, args: ReadArgs, context: RunContext) -> ToolResult:
        """Read it."""
        file = await asyncio.to_thread(_read, context.workspace, args.path)
        lines = lines_of(file.text)
        first = args.start_line or 1
        last = min(args.end_line or len(lines), len(lines))
        if not lines:
            return ToolResult("[the file is empty]", data={"lines": 0})
        if first > len(lines):
            raise ToolError(f"{args.path!r} has only {len(lines)} lines")
        if first > last:
            raise ToolError(f"start_line {first} lies after end_line {last}")
        chosen = lines[first - 1 : last]
        if args.line_numbers:
            width = len(str(last))
            chosen = [f"{n:>{width}}\t{line}" for n, line in enumerate(chosen, first)]
        text, shown = self._fitting(chosen)
        notes = file.notes()
        if shown < len(lines):
            notes.insert(0, _range_note(first, shown, len(lines)))
            if shown < len(chosen):
                notes.append(f"cut at {self.options.max_bytes} bytes: read on with start_line")
        content = f"{text}\n[{'; '.join(notes)}]" if notes else text
        return ToolResult(content, data={"lines": len(lines), "shown": shown})

    def _fitting(self, lines: list[str]) -> tuple[str, int]:
        """As many lines as one answer may hold, at least the beginning of one; and how many."""
        room = self.options.max_bytes
        for count, line in enumerate(lines):
            room -= len(line.encode("utf-8", "replace")) + 1
            if room < 0:
                if count == 0:
                    data = line.encode("utf-8", "replace")[: self.options.max_bytes]
                    return data.decode("utf-8", "ignore") + " [... the line goes on]", 1
                return "\n".join(lines[:count]), count
        return "\n".join(lines), len(lines)


def _range_note(first: int, shown: int, total: int) -> str:
    if shown == 1:
        return f"line {first} of {total}"
    return f"lines {first} to {first + shown - 1} of {total}"


def _read(workspace: Workspace, path: str) -> TextFile:
    entry = workspace.stat(path)
    if entry is None:
        raise missing_file(workspace, path)
    if entry.kind == "folder":
        raise ToolError(f"{path!r} is a folder", hint="file_list shows what is in it")
    if entry.size_bytes > MAX_OPENED_BYTES:
        raise ToolError(
            f"{path!r} has {entry.size_bytes} bytes", hint="look into it with grep_search or sed"
        )
    return decode(workspace.read_bytes(path, MAX_OPENED_BYTES), path)
