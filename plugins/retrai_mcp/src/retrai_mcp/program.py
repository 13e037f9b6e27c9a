"""A server's program: started, spoken to line by line, and ended with everything it started."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import anyio
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

MAX_MESSAGE_BYTES = 16 << 20
"""The longest line that is read; a longer one is no answer that a model could use."""

MAX_UNASKED_BYTES = 32 << 20
"""How much a server may print between two answers before it is taken for broken."""

_LEAVE_S = 2.0
"""Seconds to end by itself once its input is closed, as the protocol wants it."""

_REAP_S = 10.0
_TAIL = 2000

Incoming = SessionMessage | Exception


class Program:
    """A transport for the SDK's client: an asynchronous context manager that gives two streams.

    The SDK's own reads lines of any length, ends the process group only where the server does not
    end by itself, and cannot when retrai is killed; see keeper.py.

    Args:
        argv: the program and its arguments.
        env: its whole environment.
        cwd: where it runs.

    Attributes:
        problem: why it was ended, when it was for what it printed.
    """

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self._argv = argv
        self._env = env
        self._cwd = cwd
        self._tail = b""
        self._tasks: list[asyncio.Task[None]] = []
        self._unasked = 0
        self._garbage = ""
        self.ended = asyncio.Event()
        self.problem = ""

    async def __aenter__(
        self,
    ) -> tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]:
        life, self._life = os.pipe()
        try:
            keeper = str(Path(__file__).with_name("keeper.py"))
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", keeper, str(life), *self._argv),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=dict(self._env),
                cwd=self._cwd,
                pass_fds=(life,),
                start_new_session=True,
                limit=MAX_MESSAGE_BYTES,
            )
        except BaseException:
            os.close(self._life)
            raise
        finally:
            os.close(life)
        to_session, incoming = anyio.create_memory_object_stream[Incoming](0)
        outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        self._streams = (to_session, incoming, outgoing, from_session)
        self._tasks = [
            asyncio.create_task(self._read(to_session)),
            asyncio.create_task(self._write(from_session)),
            asyncio.create_task(self._listen()),
        ]
        return incoming, outgoing

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with anyio.CancelScope(shield=True):
            await self._end()

    @property
    def last_words(self) -> str:
        """What it last printed on standard error, or on standard output beside the protocol."""
        lines = self._tail.decode("utf-8", "replace").strip().splitlines()
        return (lines[-1] if lines else self._garbage).strip()[:300]

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.returncode

    async def _end(self) -> None:
        for stream in self._streams:
            stream.close()
        stdin = self._process.stdin
        if stdin is not None:
            stdin.close()
        await asyncio.wait({asyncio.ensure_future(self.ended.wait())}, timeout=_LEAVE_S)
        os.close(self._life)  # the keeper ends what is left
        with suppress(TimeoutError):
            async with asyncio.timeout(_REAP_S):
                await self._process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)

    async def _read(self, to_session: MemoryObjectSendStream[Incoming]) -> None:
        """Hand messages on; when the session has gone, read all the same, so it can leave."""
        stdout = self._process.stdout
        if stdout is None:
            return
        async with to_session:
            try:
                while line := await stdout.readline():
                    message = self._message(line)
                    if message is not None:
                        await to_session.send(message)
                    if self._unasked > MAX_UNASKED_BYTES:
                        self.problem = f"it printed {self._unasked} bytes without being asked"
                        break
            except ValueError:
                self.problem = f"it printed a line of more than {MAX_MESSAGE_BYTES} bytes"
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                while await stdout.read(1 << 16):
                    pass
        self.ended.set()

    def _message(self, line: bytes) -> SessionMessage | None:
        self._unasked += len(line)
        try:
            message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:  # a greeting, a log line: servers do print such things
            self._garbage = self._garbage or line[:300].decode("utf-8", "replace")
            return None
        if isinstance(message, (mcp_types.JSONRPCResponse, mcp_types.JSONRPCError)):
            self._unasked = 0
        return SessionMessage(message)

    async def _write(self, from_session: MemoryObjectReceiveStream[SessionMessage]) -> None:
        stdin = self._process.stdin
        if stdin is None:
            return
        with suppress(ConnectionError, anyio.ClosedResourceError):
            async for sent in from_session:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                stdin.write(f"{text}\n".encode())
                await stdin.drain()

    async def _listen(self) -> None:
        """Keep the end of what it says on standard error, for the message when it fails."""
        stderr = self._process.stderr
        while stderr is not None and (said := await stderr.read(1 << 16)):
            self._tail = (self._tail + said)[-_TAIL:]
