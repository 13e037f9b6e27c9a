"""A workbench for one plugin: a project, a context over it, and what was published."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from retrai_core import AgentEvent, ProcessOptions, RunContext

from .watching import WatchedSandbox, WatchedWorkspace


@dataclass
class Bench:
    """A project and a context of its own; workspace and sandbox are real, and watched.

    Attributes:
        project: the project's folder.
        context: what the plugin is built with.
        workspace: the context's workspace.
        sandbox: the context's sandbox (processes as in `local`, watched).
        events: what was published, in order.

    Example:
        >>> import asyncio, tempfile
        >>> async def use():
        ...     async with Bench.open(Path(tempfile.mkdtemp())) as bench:
        ...         bench.workspace.write_bytes("a.txt", b"hello")
        ...         return (await bench.sandbox.run(["cat", "a.txt"], timeout_s=10)).stdout
        >>> asyncio.run(use())
        'hello'
    """

    project: Path
    context: RunContext
    workspace: WatchedWorkspace
    sandbox: WatchedSandbox
    events: list[AgentEvent] = field(default_factory=list[AgentEvent])

    @classmethod
    @asynccontextmanager
    async def open(cls, base: Path, python: str = sys.executable) -> AsyncGenerator[Bench]:
        """Set up `base/project` (kept when it is there) and `base/run`; closes the sandbox."""
        project, run_dir = base / "project", base / "run"
        project.mkdir(parents=True, exist_ok=True)
        run_dir.mkdir(parents=True, exist_ok=True)
        events: list[AgentEvent] = []
        workspace = WatchedWorkspace(project)
        context = RunContext(
            run_id=f"testkit-{base.name}",
            project=workspace.root,
            workspace=workspace,
            python=python,
            run_dir=run_dir,
            on_event=events.append,
        )
        sandbox = WatchedSandbox(ProcessOptions(grace_s=0.2), context)
        context.sandbox_part = sandbox
        try:
            yield cls(workspace.root, context, workspace, sandbox, events)
        finally:
            await sandbox.aclose()

    @property
    def uses(self) -> int:
        """How often the workspace or the sandbox was used."""
        return self.workspace.uses + self.sandbox.uses

    def warnings(self) -> list[str]:
        """The messages of the warnings that were published."""
        return [
            str(event.payload["message"])
            for event in self.events
            if event.kind == "log" and event.payload["level"] == "warning"
        ]
