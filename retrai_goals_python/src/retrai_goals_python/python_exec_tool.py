"""The tool `python_exec`: runs a piece of Python in the project's own environment."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from pydantic import Field

from retrai_core import Limits, RunContext, Tool, ToolArgs, ToolOptions, ToolResult
from retrai_goal_support import code_result, fresh_folder

# With `-c` the project's root comes first on the path, while the code itself lies outside of it.
_START = """\
import sys
sys.argv.pop(0)
with open(sys.argv[0], "rb") as source:
    code = source.read()
exec(compile(code, sys.argv[0], "exec"))
"""


class PythonExecOptions(ToolOptions):
    """Limits of `python_exec`."""

    max_chars: int = 8000
    """Maximum length of a result, in characters."""
    max_timeout_s: float = Field(default=120.0, gt=0)
    """Maximum time-out that one call can ask for, in seconds."""


class PythonExecArgs(ToolArgs):
    """What to run."""

    code: str = Field(
        min_length=1,
        description="Python code, run in the project's root; print what you want to see",
    )
    timeout_s: float = Field(default=30.0, gt=0, description="seconds after which it is ended")


class PythonExec(Tool[PythonExecArgs, PythonExecOptions]):
    """Runs code with the project's interpreter, in the project's root."""

    name: ClassVar[str] = "python_exec"
    description: ClassVar[str] = (
        "Run Python code with the project's own interpreter in the project's root, where its "
        "modules can be imported. Use it to try a function or to look at a value. "
        "Nothing is kept between calls; only what is printed is seen."
    )
    # Code can write files, and act must then not run it beside other calls.
    needs: ClassVar[frozenset[str]] = frozenset({"read", "write", "run"})

    def summary(self, args: PythonExecArgs) -> str:
        return args.code.strip().partition("\n")[0][:80]

    async def run(self, args: PythonExecArgs, context: RunContext) -> ToolResult:
        options = self.options
        timeout_s = min(args.timeout_s, options.max_timeout_s)
        # A file outside of the project: no limit to its length, and no litter.
        async with fresh_folder("retrai-python") as folder:
            await asyncio.to_thread((folder / "code.py").write_text, args.code, "utf-8")
            done = await context.sandbox.run(
                [context.python, "-c", _START, str(folder / "code.py")],
                timeout_s=timeout_s,
                cwd=context.project,
                env={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"},
                limits=Limits(output_bytes=4 * options.max_chars),
                readable=[folder],
            )
        return code_result(
            done, timeout_s=timeout_s, max_chars=options.max_chars, hidden=f"{folder}/"
        )
