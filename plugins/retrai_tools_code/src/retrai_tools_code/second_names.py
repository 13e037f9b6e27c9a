"""`read_file` and `list_directory`: second names of the file tools, for agents that expect them."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from retrai_core import RunContext, Tool, ToolArgs, ToolResult

from .file_list import FileList, ListArgs, ListOptions
from .file_read import FileRead, ReadArgs, ReadOptions


class ReadFileArgs(ToolArgs):
    """What `read_file` is asked."""

    file_path: str = Field(description="The file, relative to the project.")
    start_line: int | None = Field(
        default=None, ge=1, description="First line to show, counted from 1; left out, the first."
    )
    end_line: int | None = Field(
        default=None, ge=1, description="Last line to show, itself included; left out, the last."
    )


class ReadFile(Tool[ReadFileArgs, ReadOptions]):
    """Shows a file's text with line numbers, so that it can be cited."""

    name: ClassVar[str] = "read_file"
    description: ClassVar[str] = (
        "Read a text file of the project, whole or a range of its lines, with line numbers."
    )
    needs: ClassVar[frozenset[str]] = frozenset({"read"})

    async def run(self, args: ReadFileArgs, context: RunContext) -> ToolResult:
        """Read it as `file_read` does."""
        wanted = ReadArgs(
            path=args.file_path,
            start_line=args.start_line,
            end_line=args.end_line,
            line_numbers=True,
        )
        return await FileRead(self.options, self.context).run(wanted, context)


class ListDirectoryArgs(ToolArgs):
    """What `list_directory` is asked."""

    path: str = Field(
        default=".", description="The folder, relative to the project; `.` is the project."
    )


class ListDirectory(Tool[ListDirectoryArgs, ListOptions]):
    """Lists a folder."""

    name: ClassVar[str] = "list_directory"
    description: ClassVar[str] = (
        "List a folder of the project: folders end in `/`, files show their size in bytes."
    )
    needs: ClassVar[frozenset[str]] = frozenset({"read"})

    async def run(self, args: ListDirectoryArgs, context: RunContext) -> ToolResult:
        """List it as `file_list` does."""
        return await FileList(self.options, self.context).run(ListArgs(path=args.path), context)
