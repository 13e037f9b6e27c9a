"""Servers of other people where they are installed, and bad ones that a few lines make."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("retrai_mcp")

from retrai_core import AgentEvent, McpServer, RunContext, Tool, ToolResult
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_mcp.hook import McpServers
from retrai_testkit import RetraiProject

ROOT = Path(__file__).parents[2]
INSTALLED = Path(os.environ.get("TESTS_MCP_SERVERS_DIR", ROOT / ".tox" / "mcp-servers"))

GREETER = Path(__file__).with_name("bad_server.py")
"""A small server of our own that misbehaves as its first argument says."""


def installed(name: str) -> str:
    """The program of a server that `install_servers.sh` has installed."""
    for folder in (INSTALLED / "venv" / "bin", INSTALLED / "node_modules" / ".bin"):
        if (folder / name).exists():
            return str(folder / name)
    pytest.skip(f"{name} is not installed: `bash tests/mcp/install_servers.sh` installs it")


def bad(how: str, **settings: Any) -> dict[str, Any]:
    """The entry of a server that misbehaves."""
    return {"command": [sys.executable, str(GREETER), how], "start_timeout_s": 20, **settings}


@dataclass
class Offer:
    """What the plugin offered in one run."""

    context: RunContext
    tools: dict[str, Tool]
    said: list[str] = field(default_factory=list)

    async def call(self, name: str, **arguments: Any) -> ToolResult:
        tool = self.tools[name]
        return await tool.run(tool.Args.model_validate(arguments), self.context)


Offering = Callable[[Mapping[str, Mapping[str, Any]]], Any]


@pytest.fixture
def offering(tmp_path: Path) -> Offering:
    """Starts servers as a run does, and ends them as a run does."""

    @asynccontextmanager
    async def opened(mcp: Mapping[str, Mapping[str, Any]]) -> AsyncIterator[Offer]:
        said: list[str] = []

        def hear(event: AgentEvent) -> None:
            said.append(str(event.payload.get("message")))

        entries = {name: McpServer.model_validate(entry) for name, entry in mcp.items()}
        workspace = SafeWorkspace(tmp_path)
        context = RunContext(
            "r1", tmp_path, workspace, sys.executable, tmp_path, mcp=entries, on_event=hear
        )
        answer: Awaitable[Any] = McpServers().tools(context)
        tools = {tool.name: tool for tool in await answer}
        try:
            yield Offer(context, tools, said)
        finally:
            await asyncio.gather(*(tool.aclose() for tool in tools.values()))

    return opened


@pytest.fixture
def retrai_project(retrai_project_here: RetraiProject) -> RetraiProject:
    return retrai_project_here


async def gone(pid: int) -> bool:
    """Whether a process ends within the time that one may need to be killed."""
    async with asyncio.timeout(20):
        while _is_alive(pid):
            await asyncio.sleep(0.02)
    return True


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
