"""The tool `visualize`: a chart as a PNG image in the project."""

from __future__ import annotations

import asyncio
import base64
from typing import ClassVar

from pydantic import Field

from retrai_core import RunContext, Tool, ToolArgs, ToolError, ToolOptions, ToolResult

from .analysis.jobs import Chart, ChartJob
from .csv_input import analyse, as_result, read_file


class VisualizeOptions(ToolOptions):
    """Limits of `visualize`."""

    timeout_s: float = Field(default=60.0, gt=0)
    """Maximum seconds for one call."""


class VisualizeArgs(ToolArgs):
    """What to draw."""

    kind: Chart = Field(description="which chart")
    output: str = Field(description="the image to write, relative to the project: charts/a.png")
    path: str = Field(default="", description="a CSV file of the project, or give `data`")
    data: dict[str, list[float | str | None]] = Field(
        default_factory=dict[str, list[float | str | None]],
        description="columns by name, all of one length",
    )
    x: str = Field(default="", description="the column along the horizontal axis")
    y: list[str] = Field(
        default_factory=list[str], description="the columns to draw; all numeric ones if empty"
    )
    title: str = Field(default="", description="above the chart")
    width: float = Field(default=8.0, ge=1, le=40, description="in inches, at 100 pixels each")
    height: float = Field(default=5.0, ge=1, le=40, description="in inches")


class Visualize(Tool[VisualizeArgs, VisualizeOptions]):
    """Draws with matplotlib in a process of retrai's own, and writes through the workspace."""

    name: ClassVar[str] = "visualize"
    description: ClassVar[str] = (
        "Draw a chart (line, bar, scatter, histogram, box, correlation) of a CSV file or of given "
        "columns, and write it as a PNG image; the answer says where."
    )
    needs: ClassVar[frozenset[str]] = frozenset({"read", "write", "run"})

    def summary(self, args: VisualizeArgs) -> str:
        return f"{args.kind}: {args.output}"

    async def run(self, args: VisualizeArgs, context: RunContext) -> ToolResult:
        options = self.options
        if bool(args.path) == bool(args.data):
            raise ToolError("give either `path` or `data`")
        if not args.output.endswith(".png"):
            raise ToolError(f"the image {args.output} must end in .png")
        # Refuses a place outside the project before anything is drawn.
        await asyncio.to_thread(context.workspace.stat, args.output)
        table = await read_file(args.path, context) if args.path else b""
        given = args.model_dump(exclude={"path", "output", "data"})
        job = ChartJob(columns=args.data, **given)
        outcome = await analyse("charts", job, table, context, options.timeout_s)
        image = base64.b64decode(outcome.image)
        await asyncio.to_thread(context.workspace.write_bytes, args.output, image)
        outcome.text = f"{args.output} written: {outcome.text}, {len(image)} bytes"
        outcome.data |= {"path": args.output, "bytes": len(image)}
        return as_result(outcome, options.max_chars)
