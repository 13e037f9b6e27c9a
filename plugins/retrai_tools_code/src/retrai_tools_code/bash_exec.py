"""`bash_exec`: run a shell line in the project."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from retrai_core import Completed, Limits, RunContext, Tool, ToolArgs, ToolOptions, ToolResult

from .cutting import cut_middle
from .ruinous import why_ruinous


class BashArgs(ToolArgs):
    """What `bash_exec` is asked."""

    command: str = Field(
        min_length=1,
        description=(
            "The shell line, run by bash in the project's folder. Each call is a new shell: `cd` "
            "and variables do not last. There is no terminal and no input."
        ),
    )
    timeout_s: float | None = Field(
        default=None,
        gt=0,
        description="Seconds after which it is ended; left out, 60 unless configured otherwise.",
    )


class BashOptions(ToolOptions):
    """Limits of `bash_exec`."""

    timeout_s: float = Field(
        default=60, gt=0, description="default time-out of a command, in seconds"
    )
    max_timeout_s: float = Field(
        default=600, gt=0, description="maximum time-out that the model can ask for, in seconds"
    )


class BashExec(Tool[BashArgs, BashOptions]):
    """Runs a shell line and gives its exit code and output."""

    name: ClassVar[str] = "bash_exec"
    description: ClassVar[str] = (
        "Run a shell line in the project's folder and get its exit code, standard output and "
        "standard error. Everything it started is ended when it ends, background processes too."
    )
    needs: ClassVar[frozenset[str]] = frozenset({"read", "write", "run"})

    def summary(self, args: BashArgs) -> str:
        """The first line of the command."""
        first, *others = args.command.strip().split("\n")
        return f"{first} ..." if others else first

    async def run(self, args: BashArgs, context: RunContext) -> ToolResult:
        """Run it; a command that fails is a good answer, one that ran out of time is not."""
        if ruin := why_ruinous(args.command):
            return ToolResult(f"refused: {ruin}. Name just the files that you mean.", ok=False)
        timeout_s = min(args.timeout_s or self.options.timeout_s, self.options.max_timeout_s)
        done = await context.sandbox.run(
            args.command,
            timeout_s=timeout_s,
            # Four bytes are the longest character; what is too long is cut below.
            limits=Limits(output_bytes=4 * self.max_chars),
        )
        head = _verdict(done, timeout_s, self.options.max_timeout_s)
        body = _body(done)
        content = f"{head}\n{cut_middle(body, self.max_chars - len(head) - 1)}" if body else head
        return ToolResult(
            content,
            ok=not done.timed_out,
            data={
                "exit_code": done.exit_code,
                "timed_out": done.timed_out,
                "duration_s": done.duration_s,
            },
        )


def _verdict(done: Completed, timeout_s: float, max_timeout_s: float) -> str:
    if done.timed_out:
        more = f" (timeout_s can be up to {max_timeout_s:g})" if timeout_s < max_timeout_s else ""
        return f"ended after {timeout_s:g} s, its time-out{more}; what it printed until then:"
    if done.exit_code < 0:
        return f"ended by signal {-done.exit_code}"
    return f"exit code {done.exit_code}"


def _body(done: Completed) -> str:
    parts = [done.stdout.rstrip("\n")] if done.stdout.strip() else []
    if done.stderr.strip():
        parts.append(f"[stderr]\n{done.stderr.rstrip()}")
    return "\n".join(parts)
