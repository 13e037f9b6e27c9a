"""The tool `js_exec`: runs a piece of TypeScript or JavaScript in the project."""

from __future__ import annotations

import re
import shutil
from typing import ClassVar

from pydantic import Field

from retrai_core import Limits, RunContext, Tool, ToolArgs, ToolError, ToolOptions, ToolResult

from .node_programs import HOW_TO_INSTALL_BUN, HOW_TO_INSTALL_NODE, find_bun, program_folders

_MODULE = re.compile(
    r"^\s*(?:import\b(?!\s*\()|export\b|(?:const|let|var)\b.*=\s*await\b|await\b)", re.MULTILINE
)


class JsExecOptions(ToolOptions):
    """Limits of `js_exec`."""

    max_chars: int = 8000
    """The longest result that the model gets, in characters."""
    max_timeout_s: float = Field(default=120.0, gt=0)
    """The longest that one call may ask for, in seconds."""


class JsExecArgs(ToolArgs):
    """What to run."""

    code: str = Field(
        min_length=1,
        description=(
            "TypeScript or JavaScript, run in the project's root; print what you want to see with "
            "console.log. Import the project's modules by `./src/...`"
        ),
    )
    timeout_s: float = Field(default=30.0, gt=0, description="seconds after which it is ended")


class JsExec(Tool):
    """Runs code with bun, else with node, in the project's root."""

    name: ClassVar[str] = "js_exec"
    description: ClassVar[str] = (
        "Run TypeScript or JavaScript in the project's root, where its modules and packages can be "
        "imported: by bun where it is installed, else by node (JavaScript only). Use it to try a "
        "function or to look at a value. Nothing is kept between calls; only what is printed is "
        "seen."
    )
    # Code can write files, and act must then not run it beside other calls.
    needs: ClassVar[frozenset[str]] = frozenset({"read", "write", "run"})
    Args: type[ToolArgs] = JsExecArgs
    Options: type[ToolOptions] = JsExecOptions

    def summary(self, args: JsExecArgs) -> str:
        return args.code.strip().partition("\n")[0][:80]

    async def run(self, args: JsExecArgs, context: RunContext) -> ToolResult:
        options: JsExecOptions = self.options
        timeout_s = min(args.timeout_s, options.max_timeout_s)
        command = _command(args.code)
        done = await context.sandbox.run(
            command,
            timeout_s=timeout_s,
            cwd=context.project,
            env={"NO_COLOR": "1", "DO_NOT_TRACK": "1"},
            limits=Limits(output_bytes=4 * options.max_chars),
            stdin=args.code.encode("utf-8", "replace"),
            readable=program_folders(command[0]),
        )
        parts = [done.stdout.rstrip(), done.stderr.rstrip()]
        if done.timed_out:
            parts.append(f"[ended after {timeout_s:g} s, before it was done]")
        elif done.exit_code != 0:
            parts.append(f"[exit status {done.exit_code}]")
        text = "\n".join(part for part in parts if part) or "[no output]"
        half = options.max_chars // 2
        if len(text) > options.max_chars:
            note = f"\n... {len(text) - 2 * half} characters left out ...\n"
            text = f"{text[: half - len(note)]}{note}{text[-half:]}"
        return ToolResult(
            text,
            ok=done.exit_code == 0 and not done.timed_out,
            data={
                "program": command[0],
                "exit_code": done.exit_code,
                "stdout": done.stdout,
                "stderr": done.stderr,
                "timed_out": done.timed_out,
                "duration_s": done.duration_s,
            },
        )


def _command(code: str) -> list[str]:
    """What runs the code from its standard input: no length limit, and no litter."""
    bun = find_bun()
    if bun is not None:
        return [bun, "run", "-"]
    node = shutil.which("node")
    if node is None:
        raise ToolError(
            f"neither bun nor node is installed; {HOW_TO_INSTALL_BUN}; or {HOW_TO_INSTALL_NODE}"
        )
    kind = "module" if _MODULE.search(code) else "commonjs"
    return [node, f"--input-type={kind}", "-"]
