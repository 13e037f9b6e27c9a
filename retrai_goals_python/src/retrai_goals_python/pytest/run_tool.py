"""The tool `run_pytest`: the project's tests, case by case."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from pydantic import Field, field_validator

from retrai_core import RunContext, Tool, ToolArgs, ToolError, ToolOptions, ToolResult
from retrai_goal_support import ShellWords

from ..runner import run_pytest
from .goal import PytestGoalOptions
from .run import describe_run, render_failures


class RunPytestOptions(ToolOptions):
    """Limits of `run_pytest`."""

    max_chars: int = 16_000
    """Maximum length of a result, in characters."""
    timeout_s: float = Field(default=120.0, gt=0)
    """Maximum wall-clock seconds for one run."""
    max_chars_per_failure: int = Field(default=4000, ge=200)
    """Maximum length of the text of one failing test, in characters."""


class RunPytestArgs(ToolArgs):
    """What to run."""

    targets: ShellWords = Field(
        default_factory=list[str],
        description=(
            "files, folders or test ids, relative to the folder that pytest runs in, such as "
            "'tests/test_api.py' or 'tests/test_api.py::test_login'; all tests when empty"
        ),
    )
    keyword: str = Field(
        default="",
        description="only tests whose name fits (pytest's -k), such as 'login and not slow'",
    )
    max_failures: int = Field(
        default=10, ge=1, le=100, description="how many different failures are shown in full"
    )

    @field_validator("targets")
    @classmethod
    def _no_options(cls, value: list[str]) -> list[str]:
        for target in value:
            if target.startswith(("-", "@")) or not target.strip():
                raise ValueError(f"{target!r} is no file, folder or test id")
        return value


class RunPytest(Tool[RunPytestArgs, RunPytestOptions]):
    """Runs the project's tests in the project's own environment."""

    name: ClassVar[str] = "run_pytest"
    description: ClassVar[str] = (
        "Run the project's tests with pytest, in the project's own Python environment, and see "
        "each failing test with its assertion, the compared values, the location and the source "
        "lines around it. Name targets to run only some of them."
    )
    needs: ClassVar[frozenset[str]] = frozenset({"read", "run"})

    def summary(self, args: RunPytestArgs) -> str:
        parts = [*args.targets, *([f"-k {args.keyword}"] if args.keyword else [])]
        return " ".join(parts) or "all tests"

    async def run(self, args: RunPytestArgs, context: RunContext) -> ToolResult:
        options = self.options
        # Where the goal says how the project is tested, the tool tests it the same way.
        chosen: Any = context.goal_part.options if context.goal_part else None
        goal = chosen if isinstance(chosen, PytestGoalOptions) else PytestGoalOptions()
        folder = context.project / goal.path
        if not await asyncio.to_thread(folder.is_dir):
            raise ToolError(f"{goal.path} is no folder of this project")
        keyword = ["-k", args.keyword] if args.keyword else []
        run = await run_pytest(
            context.sandbox,
            context.python,
            folder,
            targets=args.targets or goal.targets,
            extra_args=[*goal.args, *keyword],
            timeout_s=options.timeout_s,
            max_chars_per_failure=options.max_chars_per_failure,
        )
        head = f"{describe_run(run)} ({run.duration_s:.1f} s)"
        room = max(options.max_chars - len(head) - 2, 500)
        shown = render_failures(run, room, args.max_failures)
        return ToolResult(
            f"{head}\n\n{shown}".strip(),
            # Failing tests are an answer; a run that did not end well is a failure of the tool.
            ok=run.complete,
            data={
                "cases": dict(run.cases),
                "complete": run.complete,
                "exit_status": run.exit_status,
                "command": list(run.command),
                "duration_s": run.duration_s,
            },
        )
