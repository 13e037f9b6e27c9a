"""The tool with which the model reports that the goal contradicts itself."""

from __future__ import annotations

from pydantic import Field

from ...contracts.context import RunContext
from ...contracts.tool import Tool, ToolArgs, ToolResult


class ReportImpossibleArgs(ToolArgs):
    """Why the goal cannot be met."""

    reason: str = Field(min_length=1, description="What contradicts what, with file and line.")


class ReportImpossible(Tool[ReportImpossibleArgs]):
    """Ends the run as `failed` with the model's reason, or asks a person; never `achieved`."""

    name = "report_impossible"
    description = (
        "Say that the goal contradicts itself and no honest change of the sources can meet it. "
        "This ends the run as failed. Use it only when you can name the contradiction."
    )
    needs = frozenset[str]()

    async def run(self, args: ReportImpossibleArgs, context: RunContext) -> ToolResult:
        """Note the report; the loop acts on it."""
        return ToolResult(f"Noted: {args.reason}")
