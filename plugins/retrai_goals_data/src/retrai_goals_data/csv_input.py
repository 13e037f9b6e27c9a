"""A CSV file of the project, read for a tool through the workspace."""

from __future__ import annotations

import asyncio

from retrai_core import RunContext, ToolError, ToolResult
from retrai_goal_support import shorten

from .analysis.jobs import Outcome
from .answering import JobClass
from .child import Child, ChildError

MAX_BYTES = 50_000_000
START_S = 20.0


async def read_file(path: str, context: RunContext) -> bytes:
    """The file's bytes.

    Raises:
        ToolError: it is no file, or too large.
        WorkspaceError: the path leaves the project.
    """
    entry = await asyncio.to_thread(context.workspace.stat, path)
    if entry is None or entry.kind == "folder":
        what = "is not there" if entry is None else "is a folder"
        raise ToolError(f"{path} {what}; name a CSV file of the project")
    data = await asyncio.to_thread(context.workspace.read_bytes, path, MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ToolError(f"{path} is larger than {MAX_BYTES // 1_000_000} MB; give a part of it")
    return data


async def analyse(
    module: str, job: JobClass, data: bytes, context: RunContext, timeout_s: float
) -> Outcome:
    """Have the analysing process do a job.

    Raises:
        ToolError: it could not be done; the message says why.
    """
    child = Child(f"retrai_goals_data.analysis.{module}", timeout_s + START_S)
    try:
        outcome = await child.run(context.sandbox, job, Outcome, data=data, cwd=context.project)
    except ChildError as error:
        raise ToolError(f"it was not done: {error}") from error
    if outcome.problem:
        raise ToolError(outcome.problem)
    return outcome


def as_result(outcome: Outcome, max_chars: int) -> ToolResult:
    """The outcome as a tool's answer, cut to its limit."""
    return ToolResult(shorten(outcome.text, max_chars), data=outcome.data)
