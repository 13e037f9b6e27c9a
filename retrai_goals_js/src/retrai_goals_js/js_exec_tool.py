"""The tool `js_exec`: runs a piece of TypeScript or JavaScript in the project."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from retrai_core import Limits, RunContext, Tool, ToolArgs, ToolError, ToolOptions, ToolResult
from retrai_goal_support import code_result

from .node_programs import HOW_TO_INSTALL_BUN, HOW_TO_INSTALL_NODE, find_bun, program_folders

_MODULE = re.compile(
    r"^\s*(?:import\b(?!\s*\()|export\b|(?:const|let|var)\b.*=\s*await\b|await\b)", re.MULTILINE
)


class JsExecOptions(ToolOptions):
    """Limits of `js_exec`."""

    max_chars: int = 8000
    """Maximum length of a result, in characters."""
    max_timeout_s: float = Field(default=120.0, gt=0)
    """Maximum time-out that one call can ask for, in seconds."""


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


class JsExec(Tool[JsExecArgs, JsExecOptions]):
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

    def summary(self, args: JsExecArgs) -> str:
        return args.code.strip().partition("\n")[0][:80]

    async def run(self, args: JsExecArgs, context: RunContext) -> ToolResult:
        options = self.options
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
        result = code_result(done, timeout_s=timeout_s, max_chars=options.max_chars)
        return replace(result, data={"program": command[0], **result.data})


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
