"""retrai's side of the processes that run commands; see keeper.py for why there are such."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import subprocess
import sys
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import ToolError
from .protocol import (
    BEGIN,
    KILL,
    KILL_TIMEOUT_S,
    TERMINATE,
    Request,
    framed,
    missing_bytes,
    unframed,
)

STOP_TIMEOUT_S = 10.0
MAX_IDLE = 4
"""How many keepers wait for a next command; one more is started for each that runs beside them."""

# Isolated and without site: nothing of the user's runs in it, and it starts in a third of the time.
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from {} import main; main()".format(
    f"{__package__}.keeper"
)
_IMPORT_ROOT = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its exit code (a signal as a negative number), and surviving
    descendants."""

    exit_code: int
    left: int


class Command:
    """A command that a keeper looks after. Closing it ends the command.

    Args:
        control: the keeper's socket, over which the streams have been sent.
        request: what to run.
        idle: takes the socket back when the keeper is free for the next command.
    """

    def __init__(self, control: socket.socket, request: Request, idle: list[socket.socket]) -> None:
        self._control = control
        self._request = request
        self._idle = idle
        self._report = asyncio.ensure_future(self._talk())

    async def _talk(self) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        try:
            await loop.sock_sendall(self._control, framed(self._request))
            data = b""
            while wanted := missing_bytes(data):
                more = await loop.sock_recv(self._control, wanted)
                if not more:
                    return {"failed": "keeper", "errno": 0, "text": "its keeper was killed"}
                data += more
        except ConnectionError as error:
            return {"failed": "keeper", "errno": 0, "text": f"its keeper was killed ({error})"}
        return unframed(data)

    async def wait(self, timeout_s: float | None) -> Ended | None:
        """How it ended, or None when it still runs after `timeout_s` seconds.

        Raises:
            ToolError: it could not be started, or its keeper was killed.
        """
        done, _ = await asyncio.wait({self._report}, timeout=timeout_s)
        if not done:
            return None
        report = self._report.result()
        if "failed" in report:
            raise self._failure(report)
        return Ended(report["exit_code"], report["left"])

    def _failure(self, report: Mapping[str, Any]) -> ToolError:
        program = self._request["argv"][0]
        if report["failed"] == "cwd":
            return ToolError(f"cannot run in {self._request['cwd']!r}: {report['text']}")
        if report["errno"] == errno.ENOENT:
            return ToolError(f"the program {program!r} does not exist, or is not on PATH")
        if report["errno"] == errno.EACCES:
            return ToolError(f"the program {program!r} may not be executed")
        return ToolError(f"the program {program!r} cannot be run: {report['text']}")

    def order(self, *, kill: bool) -> None:
        """Tell its keeper to end it: at once, or politely first."""
        with suppress(OSError):  # it has ended already
            self._control.send(KILL if kill else TERMINATE)

    async def kill(self) -> None:
        """End it and everything it started, and wait until they are gone."""
        self.order(kill=True)
        await asyncio.wait({self._report}, timeout=2 * KILL_TIMEOUT_S)

    def close(self) -> None:
        """Give the keeper back; or hang up, so that it ends its command."""
        if not self._report.done():
            with suppress(OSError):  # the keeper may have hung up before us
                self._control.shutdown(socket.SHUT_RDWR)
            # The event loop still watches the socket: its number must not be given away until then.
            self._report.add_done_callback(lambda _: self._control.close())
        elif self._keeper_is_free() and len(self._idle) < MAX_IDLE:
            self._idle.append(self._control)
        else:
            self._control.close()

    def _keeper_is_free(self) -> bool:
        if self._report.cancelled() or self._report.exception() is not None:
            return False
        report = self._report.result()
        return report.get("failed") != "keeper" and not report.get("left")


class Supervisor:
    """Sends commands to keepers, and starts as many of those as there are commands at once."""

    def __init__(self) -> None:
        self._idle: list[socket.socket] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        weakref.finalize(self, _stop, self._idle, self._processes)

    def start(self, request: Request, streams: tuple[int, int, int]) -> Command:
        """Start a command; the caller keeps, and closes, its own copies of the streams.

        Args:
            request: what to run.
            streams: file descriptors for its standard input, output and error.
        """
        return Command(self._keeper_with(streams), request, self._idle)

    def _keeper_with(self, streams: tuple[int, int, int]) -> socket.socket:
        """The socket of a keeper that has got the streams: of a free one, or of a new one."""
        while self._idle:
            control = self._idle.pop()
            try:
                socket.send_fds(control, [BEGIN], streams)
            except ConnectionError:
                control.close()  # it was killed meanwhile
            else:
                return control
        control = self._new_keeper()
        socket.send_fds(control, [BEGIN], streams)
        return control

    def _new_keeper(self) -> socket.socket:
        self._processes[:] = [one for one in self._processes if one.poll() is None]
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            try:
                # In a session of its own, so that Ctrl-C in the terminal does not reach it.
                process = subprocess.Popen(
                    [
                        *(sys.executable, "-I", "-S", "-c", _PROGRAM),
                        *(str(_IMPORT_ROOT), str(theirs.fileno())),
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                    env={"PATH": os.defpath},
                )
            except BaseException:
                ours.close()
                raise
        self._processes.append(process)
        return ours

    async def aclose(self) -> None:
        """Hang up and wait for the keepers' end; their commands must have been ended."""
        await asyncio.to_thread(_stop, self._idle, self._processes)


def _stop(idle: list[socket.socket], processes: list[subprocess.Popen[bytes]]) -> None:
    while idle:
        idle.pop().close()
    while processes:
        process = processes.pop()
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
