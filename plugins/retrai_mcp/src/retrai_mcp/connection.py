"""One life of a server: from its start, or the first word to its address, to its end."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import shutil
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED, CallToolResult, Tool

from retrai_core import McpServer, ToolError

from .program import Program

_PASSED = (
    *("HOME", "LOGNAME", "USER", "SHELL", "PATH", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LC_*"),
    *("XDG_*_HOME", "XDG_RUNTIME_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
)
"""The variables that every server gets; none of them carries a secret."""

_MAX_PAGES = 20
_CLOSE_S = 14.0

# Without a handler, Python prints a library's warnings on standard error.
logging.getLogger("mcp").addHandler(logging.NullHandler())


class Connection:
    """A server that answers.

    The SDK's client must be entered and left by one task; it lives in one of its own.

    Args:
        server: how to reach it.
        project: where a program runs.

    Attributes:
        tools: what it offers, once it is open.
    """

    def __init__(self, server: McpServer, project: Path) -> None:
        self._server = server
        self._project = project
        self._program: Program | None = None
        self._client: Client | None = None
        self._leave = asyncio.Event()
        self._scope = anyio.CancelScope()
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self.tools: list[Tool] = []

    async def open(self) -> None:
        """Start it and hear what it offers.

        Raises:
            ToolError: it cannot be started, does not answer in time, or speaks no MCP.
        """
        self._task = asyncio.create_task(self._live())
        try:
            await asyncio.shield(self._opened)
        except BaseException:
            await self.aclose()
            raise

    @property
    def is_alive(self) -> bool:
        """Whether it can be called."""
        return self._client is not None

    async def call(
        self, tool: str, arguments: Mapping[str, Any], timeout_s: float
    ) -> CallToolResult:
        """Call one of its tools.

        Raises:
            ToolError: it did not answer in time, ended meanwhile, or refused the call.
        """
        if self._client is None:
            raise ToolError(self.end)
        try:
            with anyio.fail_after(timeout_s):
                return await self._client.call_tool(tool, dict(arguments))
        except TimeoutError:
            raise ToolError(f"it did not answer within {timeout_s:g} s") from None
        except MCPError as error:
            if error.error.code != CONNECTION_CLOSED:
                raise ToolError(f"it refuses the call: {error}") from error
            await self.aclose()
            raise ToolError(self.end) from error
        except (anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            await self.aclose()
            raise ToolError(self.end) from error
        except Exception as error:
            raise ToolError(f"its answer cannot be read: {_first_line(error)}") from error

    @property
    def end(self) -> str:
        """Why it does not answer any more."""
        program = self._program
        if program is None:
            return "the connection was closed"
        how = program.problem or f"it ended (exit code {program.exit_code})"
        return f"{how}: {program.last_words}" if program.last_words else how

    async def aclose(self) -> None:
        """End it, politely where it was open; waits until its program is gone."""
        self._leave.set()
        if not self._opened.done():
            self._scope.cancel()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=_CLOSE_S)
        self._client = None

    async def _live(self) -> None:
        """Open, wait until it is over, close; what goes wrong before is `open`'s to tell."""
        limit_s = self._server.start_timeout_s
        problem = f"it did not answer within {limit_s:g} s"
        try:
            with self._scope:
                self._scope.deadline = anyio.current_time() + limit_s
                async with await self._client_of() as client:
                    self.tools = await _listed(client)
                    self._scope.deadline = math.inf
                    self._client = client
                    self._opened.set_result(None)
                    await self._until_over()
                    self._client = None
        except ToolError as error:
            problem = error.message
        except Exception as error:  # noqa: BLE001 - whatever the SDK raises, the server is not there
            problem = f"it cannot be spoken to: {_first_line(error)}"
            if self._program is not None and (self._program.problem or self._program.last_words):
                problem = self.end
        finally:
            self._client = None
            if not self._opened.done():
                if self._program is not None and self._program.last_words not in problem:
                    problem = f"{problem}; it last printed: {self._program.last_words}"
                self._opened.set_exception(ToolError(problem))

    async def _until_over(self) -> None:
        ends = {asyncio.ensure_future(self._leave.wait())}
        if self._program is not None:
            ends.add(asyncio.ensure_future(self._program.ended.wait()))
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()

    async def _client_of(self) -> Client:
        server = self._server
        if server.url is not None:
            http = httpx2.AsyncClient(headers=server.headers, timeout=server.timeout_s)
            return Client(streamable_http_client(server.url, http_client=http), cache=None)
        env = server_environment(server, os.environ)
        program = shutil.which(server.command[0], path=env.get("PATH"))
        if program is None and (self._project / server.command[0]).is_file():
            program = str(self._project / server.command[0])
        if program is None:
            raise ToolError(f"the program {server.command[0]} is not installed, or not on PATH")
        self._program = Program([program, *server.command[1:]], env, self._project)
        return Client(self._program, cache=None)


def server_environment(server: McpServer, source: Mapping[str, str]) -> dict[str, str]:
    """The variables that a server's program sees: an allow-list, and what the user gives it.

    Args:
        server: its `env` and `pass_env`.
        source: retrai's own environment.
    """
    patterns = (*_PASSED, *server.pass_env)
    passed = {
        name: value
        for name, value in source.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    return {**passed, **server.env}


async def _listed(client: Client) -> list[Tool]:
    found: list[Tool] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return found


def _first_line(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):  # of the SDK's tasks; one cause is enough
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    said = str(error).strip().splitlines()
    return (said[0] if said else type(error).__name__)[:300]
