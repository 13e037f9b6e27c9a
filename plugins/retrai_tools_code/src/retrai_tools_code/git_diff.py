"""`git_diff`: what has changed since the last commit, new files included."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from retrai_core import (
    Completed,
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

from .cutting import cut_middle, printable
from .text_files import is_binary

# No program that the repository's configuration names: it may be anyone's.
_GIT = ("git", "-c", "core.quotePath=false", "-c", "core.fsmonitor=false", "--no-pager")
_DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--relative")
# Messages in English, and no writing to the index of a repository that we only look at.
_ENV = {
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "en",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
}


class DiffArgs(ToolArgs):
    """What `git_diff` is asked."""

    path: str = Field(
        default=".", description="Only this file or folder, relative to the project; `.` is all."
    )


class DiffOptions(ToolOptions):
    """Limits of `git_diff`."""

    max_chars: int = Field(
        default=16_000, gt=0, description="maximum length of an answer, in characters"
    )
    max_new_bytes: int = Field(
        default=100_000, gt=0, description="larger new files are listed but not shown"
    )
    timeout_s: float = Field(default=30, gt=0, description="maximum seconds for git")


class GitDiff(Tool[DiffArgs, DiffOptions]):
    """Shows uncommitted changes."""

    name: ClassVar[str] = "git_diff"
    description: ClassVar[str] = (
        "Show what has changed in the project since the last git commit, as a unified diff; new "
        "files that git does not know yet are included."
    )
    needs: ClassVar[frozenset[str]] = frozenset({"read", "run"})
    programs: ClassVar[Sequence[str]] = ("git",)

    def summary(self, args: DiffArgs) -> str:
        """The path, where one is given."""
        return "" if args.path == "." else args.path

    async def run(self, args: DiffArgs, context: RunContext) -> ToolResult:
        """Ask git."""
        # Only to refuse what leads outside; a deleted file has a diff as well.
        await asyncio.to_thread(context.workspace.stat, args.path)
        # First, for outside a repository `git diff` means something else.
        listed = await self._git(
            context, "ls-files", "--others", "--exclude-standard", "-z", "--", args.path
        )
        names = sorted(name for name in _output(listed).split("\0") if name)
        changed = await self._git(context, *_DIFF, "HEAD", "--", args.path)
        if changed.exit_code == 128 and "'HEAD'" in changed.stderr:
            # No commit yet: what is in the index, and what differs from it.
            staged = await self._git(context, *_DIFF, "--cached", "--", args.path)
            unstaged = await self._git(context, *_DIFF, "--", args.path)
            text = _output(staged) + _output(unstaged)
        else:
            text = _output(changed)
        new = await asyncio.to_thread(self._new_files, context.workspace, names)
        whole = (text + new).rstrip("\n")
        if not whole:
            return ToolResult("nothing has changed since the last commit")
        return ToolResult(cut_middle(whole, self.max_chars), data={"new_files": names})

    async def _git(self, context: RunContext, *argv: str) -> Completed:
        try:
            return await context.sandbox.run(
                [*_GIT, *argv],
                timeout_s=self.options.timeout_s,
                env=_ENV,
                limits=Limits(output_bytes=8 * self.max_chars + 1_000_000),
            )
        except ToolError as error:
            raise ToolError(
                f"git cannot be run: {error.message}",
                hint="compare with file_read and grep_search instead",
            ) from error

    def _new_files(self, workspace: Workspace, names: list[str]) -> str:
        return "".join(_new_file(workspace, name, self.options.max_new_bytes) for name in names)


def _output(done: Completed) -> str:
    if done.exit_code == 0:
        return done.stdout
    if done.timed_out:
        raise ToolError("git did not answer in time", hint="give a `path`")
    if "not a git repository" in done.stderr.lower():
        raise ToolError(
            "this project is not a git repository, so there is nothing to compare with",
            hint="read the files instead",
        )
    raise ToolError(f"git diff failed: {done.stderr.strip()[:1000]}")


def _new_file(workspace: Workspace, name: str, max_bytes: int) -> str:
    """A file that git does not know, as git would show it once it did."""
    head = f"diff --git a/{printable(name)} b/{printable(name)}\nnew file, not in git yet\n"
    try:
        data = workspace.read_bytes(name, max_bytes + 1)
    except WorkspaceError as error:
        return f"{head}({error.message})\n"
    if is_binary(data):
        return f"{head}Binary file\n"
    if len(data) > max_bytes:
        return f"{head}(larger than {max_bytes} bytes)\n"
    lines = data.decode("utf-8", "replace").split("\n")
    end = "" if lines[-1] == "" else "\\ No newline at end of file\n"
    if lines[-1] == "":
        lines.pop()
    if not lines:
        return head
    body = "".join(f"+{line}\n" for line in lines)
    return f"{head}--- /dev/null\n+++ b/{printable(name)}\n@@ -0,0 +1,{len(lines)} @@\n{body}{end}"
