"""`grep_search`: lines that match a regular expression."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from retrai_core import (
    Limits,
    RunContext,
    Tool,
    ToolArgs,
    ToolError,
    ToolOptions,
    ToolResult,
    Workspace,
    WorkspaceError,
)

from .cutting import cut_lines, printable
from .globs import glob_matcher
from .grep_worker import Line, search_file
from .nearest import missing_file
from .rg_filter import files_with, weaker_pattern

CHUNK_BYTES = 16_000_000
_WORKER = Path(__file__).with_name("grep_worker.py")
# Without repetition a search takes time in proportion to the text.
_REPETITION = re.compile(r"[*+{]|(?<!\()\?|\(\?[^:]|\\[1-9]")


class GrepArgs(ToolArgs):
    """What `grep_search` is asked."""

    pattern: str = Field(
        min_length=1,
        description=(
            "A regular expression of Python, looked for in each line. Escape `(`, `[`, `.`, `*` "
            "and the like where they stand for themselves."
        ),
    )
    path: str = Field(
        default=".", description="The folder or file to search, relative to the project."
    )
    glob: str = Field(
        default="",
        description="Only files that fit this glob, as in `*.py` or `src/**/*.py`; left out, all.",
    )
    ignore_case: bool = Field(default=False, description="Take small and capital letters as one.")
    context_lines: int = Field(
        default=0, ge=0, le=20, description="How many lines to show before and after each match."
    )


class GrepOptions(ToolOptions):
    """Limits of `grep_search`."""

    max_matches: int = Field(default=200, gt=0, description="maximum lines in one answer")
    max_file_bytes: int = Field(
        default=4_000_000, gt=0, description="maximum size of a searched file"
    )
    timeout_s: float = Field(default=30, gt=0, description="maximum seconds for a search")


class GrepSearch(Tool[GrepArgs, GrepOptions]):
    """Searches the project's files.

    Symlinks, binary files and what git ignores are left out. It may run ripgrep and an interpreter
    of ours in the sandbox, but nothing of the project's, hence `read` alone is its need.
    """

    name: ClassVar[str] = "grep_search"
    description: ClassVar[str] = (
        "Search the text files of the project for a regular expression; gives `path:line: text` "
        "for each line that matches, sorted. What `.gitignore` names is left out."
    )
    needs: ClassVar[frozenset[str]] = frozenset({"read"})

    def summary(self, args: GrepArgs) -> str:
        """The pattern, and where."""
        where = " ".join(part for part in (args.glob, args.path) if part not in ("", "."))
        return f"{args.pattern} in {where}" if where else args.pattern

    async def run(self, args: GrepArgs, context: RunContext) -> ToolResult:
        """Search."""
        regex = _compiled(args.pattern, args.ignore_case)
        paths, too_large = await asyncio.to_thread(self._candidates, context.workspace, args)
        weaker = weaker_pattern(args.pattern, ignore_case=args.ignore_case)
        if weaker is not None and len(paths) > 1:
            kept = await files_with(weaker, paths, context.sandbox, self.options.timeout_s)
            paths = paths if kept is None else kept
        found = await self._search(regex, paths, args, context)
        return self._result(args, found, too_large)

    def _candidates(self, workspace: Workspace, args: GrepArgs) -> tuple[list[str], int]:
        """The files to search, and how many are too large."""
        entry = workspace.stat(args.path)
        if entry is None:
            raise missing_file(workspace, args.path)
        if entry.kind == "file" or (entry.kind == "symlink" and _is_file(workspace, args.path)):
            return [args.path], 0
        fits = glob_matcher(args.glob or "**")
        entries = [
            found
            for found in workspace.walk(args.path)
            if found.kind == "file" and fits(found.path)
        ]
        small = [one.path for one in entries if one.size_bytes <= self.options.max_file_bytes]
        return small, len(entries) - len(small)

    async def _search(
        self, regex: re.Pattern[str], paths: Sequence[str], args: GrepArgs, context: RunContext
    ) -> list[tuple[str, list[Line]]]:
        # One more than is shown, to know that there are more.
        left = self.options.max_matches + 1
        found: list[tuple[str, list[Line]]] = []
        chunks = _chunks(context.workspace, paths)
        while left > 0 and (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
            if _REPETITION.search(args.pattern):
                hits = await self._in_process(regex, chunk, args, left, context)
            else:
                hits = await asyncio.to_thread(_here, regex, chunk, args.context_lines, left)
            for (path, _), lines in zip(chunk, hits, strict=True):
                if lines:
                    found.append((path, lines))
                    left -= sum(1 for line in lines if line[1])
        return found

    async def _in_process(
        self,
        regex: re.Pattern[str],
        chunk: Sequence[tuple[str, bytes]],
        args: GrepArgs,
        room: int,
        context: RunContext,
    ) -> list[list[Line]]:
        """Search in a process that can be ended."""
        request = {
            "pattern": regex.pattern,
            "ignore_case": args.ignore_case,
            "context": args.context_lines,
            "max_matches": room,
            "sizes": [len(data) for _, data in chunk],
        }
        done = await context.sandbox.run(
            [sys.executable, "-I", "-S", "-W", "ignore", str(_WORKER)],
            timeout_s=self.options.timeout_s,
            stdin=json.dumps(request).encode() + b"\n" + b"".join(data for _, data in chunk),
            limits=Limits(output_bytes=CHUNK_BYTES),
            readable=[_WORKER.parent, Path(sys.prefix), Path(sys.base_prefix)],
        )
        if done.timed_out:
            raise ToolError(
                f"the search took longer than {self.options.timeout_s:g} s",
                hint="use a simpler pattern, or fewer files by `path` and `glob`",
            )
        if done.exit_code != 0:
            raise ToolError(f"the search failed: {done.stderr.strip()[-500:]}")
        answer: list[list[list[Any]]] = json.loads(done.stdout)
        return [[(line[0], line[1], line[2]) for line in lines] for lines in answer]

    def _result(
        self, args: GrepArgs, found: Sequence[tuple[str, list[Line]]], too_large: int
    ) -> ToolResult:
        limit = self.options.max_matches
        lines: list[str] = []
        matches = 0
        for path, text in _shown(found, args.context_lines):
            matches += text[1] if text else 0
            if matches > limit:
                break
            lines.append(_line(path, text) if text else "--")
        skipped = f"{too_large} files larger than {self.options.max_file_bytes} bytes not searched"
        if not lines:
            note = f" ({skipped})" if too_large else ""
            return ToolResult(f"no line matches {args.pattern!r}{note}", data={"matches": 0})
        more = "[... {left} more lines; make the pattern or the path narrower]"
        text = cut_lines(lines, self.max_chars - 200, more)
        if matches > limit:
            text += f"\n[more than {limit} matches; make the pattern or the path narrower]"
        if too_large:
            text += f"\n[{skipped}]"
        return ToolResult(text, data={"matches": min(matches, limit)})


def _is_file(workspace: Workspace, path: str) -> bool:
    """Whether a symlink leads to a file of the project."""
    try:
        workspace.read_bytes(path, 0)
    except WorkspaceError:
        return False
    return True


def _compiled(pattern: str, ignore_case: bool) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `[[` may mean something else one day
            return re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    except (re.error, RecursionError, OverflowError) as error:
        place = getattr(error, "pos", None)
        where = f" at character {place + 1}" if place is not None else ""
        raise ToolError(
            f"{pattern!r} is not a regular expression: {getattr(error, 'msg', error)}{where}",
            hint="put a backslash before a character that stands for itself",
        ) from None


def _here(
    regex: re.Pattern[str], chunk: Sequence[tuple[str, bytes]], context: int, room: int
) -> list[list[Line]]:
    found: list[list[Line]] = []
    for _, data in chunk:
        lines = search_file(regex, data, context, room) if room > 0 else []
        room -= sum(1 for line in lines if line[1])
        found.append(lines)
    return found


def _chunks(workspace: Workspace, paths: Sequence[str]) -> Iterator[list[tuple[str, bytes]]]:
    """The files' contents, some megabytes at a time."""
    chunk: list[tuple[str, bytes]] = []
    size = 0
    for path in paths:
        try:
            data = workspace.read_bytes(path)
        except WorkspaceError:
            continue  # it went away meanwhile, or may not be read: ripgrep leaves it out too
        chunk.append((path, data))
        size += len(data)
        if size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _shown(
    found: Sequence[tuple[str, list[Line]]], context: int
) -> Iterator[tuple[str, Line | None]]:
    """Every line to show with its path; None between two that do not follow each other."""
    last: tuple[str, int] | None = None
    for path, lines in found:
        for line in lines:
            if context and last is not None and last != (path, line[0] - 1):
                yield path, None
            last = (path, line[0])
            yield path, line


def _line(path: str, line: Line) -> str:
    number, matches, text = line
    mark = ":" if matches else "-"
    return f"{printable(path)}{mark}{number}{mark} {text}"
