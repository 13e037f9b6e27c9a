"""A project, and the tools at work in it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from retrai_core import ProcessOptions, RetraiError, RunContext, Tool, ToolResult
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_sandbox_local.sandbox import LocalSandbox

CLASSES: dict[str, type[Tool]] = {
    point.name: point.load()
    for point in entry_points(group="retrai.tools")
    if point.value.startswith("retrai_tools_code.")
}


class Bench:
    """Calls tools by name, as `act` does."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.workspace = SafeWorkspace(project)
        self.context = RunContext("r1", project, self.workspace, sys.executable, project)
        self.sandbox = LocalSandbox(ProcessOptions(), self.context)
        self.context.sandbox_part = self.sandbox

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def tool(self, name: str, **options: Any) -> Tool:
        found = CLASSES[name]
        return found(found.Options.model_validate(options), self.context)

    async def call(
        self, name: str, options: dict[str, Any] | None = None, **args: Any
    ) -> ToolResult:
        tool = self.tool(name, **(options or {}))
        return await tool.run(tool.Args.model_validate(args), self.context)

    async def text(self, name: str, **args: Any) -> str:
        return (await self.call(name, **args)).content

    async def refusal(self, name: str, **args: Any) -> str:
        with pytest.raises(RetraiError) as refused:
            await self.call(name, **args)
        return str(refused.value)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("the secret outside")
    project = tmp_path / "project"
    project.mkdir()
    made = Bench(project)
    yield made
    await made.sandbox.aclose()
