"""One tool that keeps the contract, and tools that each break a rule."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

from pydantic import Field

from retrai_core import Tool, ToolArgs, ToolError, ToolOptions, ToolResult


class NoteArgs(ToolArgs):
    path: str = Field(description="Where to write.")
    text: str = Field(description="What to write.")


class GoodNote(Tool):
    """Writes a note and reads it back through a program."""

    name = "good-note"
    description = "Write a note."
    needs = frozenset({"read", "write", "run"})
    Args = NoteArgs

    class Options(ToolOptions):
        timeout_s: float = Field(default=600.0, gt=0, description="seconds that reading may take")

    async def run(self, args, context):
        await self.write(args, context)
        line = "sleep 1000" if args.text == "endless" else f"cat '{args.path}'"
        done = await context.sandbox.run(line, timeout_s=self.options.timeout_s)
        if done.timed_out:
            raise ToolError("reading the note took too long")
        return ToolResult(done.stdout[: self.max_chars])

    async def write(self, args, context):
        context.workspace.write_bytes(args.path, args.text.encode())


class PastWorkspace(GoodNote):
    name = "past-workspace"

    async def write(self, args, context):
        (context.project / args.path).write_text(args.text)


class PastSandbox(GoodNote):
    name = "past-sandbox"

    async def run(self, args, context):
        await self.write(args, context)
        if args.text == "endless":
            process = await asyncio.create_subprocess_exec("sleep", "1000")
            await context.sandbox.run(["true"], timeout_s=10)
            await process.wait()
        command = ["cat", context.project / args.path]
        done = subprocess.run(command, capture_output=True, check=False)
        return ToolResult(done.stdout.decode()[: self.max_chars])


class UndeclaredWrite(GoodNote):
    name = "undeclared-write"
    needs = frozenset({"read", "run"})


class SharedState(GoodNote):
    name = "shared-state"
    context_of_last = {}

    def __init__(self, options, context):
        super().__init__(options, context)
        self.context_of_last["context"] = context

    async def write(self, args, context):
        self.context_of_last["context"].workspace.write_bytes(args.path, args.text.encode())


class WrongErrors(GoodNote):
    name = "wrong-errors"

    async def write(self, args, context):
        Path(args.path).parent.mkdir(exist_ok=True) if args.path == "." else None
        if args.path == ".":
            raise KeyError("no such thing\nat all")
        await super().write(args, context)


class NeverCut(GoodNote):
    name = "never-cut"

    async def run(self, args, context):
        answer = await super().run(args, context)
        return ToolResult(answer.content + "x" * 10_000)


class Undocumented(GoodNote):
    name = "undocumented"

    class Args(ToolArgs):
        model_config = {"extra": "ignore"}
        path: str
        text: str

    class Options(GoodNote.Options):
        model_config = {"extra": "ignore"}
        silent_option: int = 3


class NotInManifest(GoodNote):
    name = "not-in-manifest"
    needs = frozenset({"read", "write", "run", "network"})
