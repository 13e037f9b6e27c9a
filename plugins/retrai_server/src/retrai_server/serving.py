"""Runs the server: the port, the address, signals."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import uvicorn

from retrai_core import RunManager, UsageError, echo

from .app import make_app
from .security import MAX_HEADER_BYTES, MAX_MESSAGE_BYTES, Access, Guard
from .server import Server, ServerOptions
from .websocket_protocol import SharedFramesProtocol

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_MORE_PORTS = 100
_DRAIN_S = 2
_KEEP_ALIVE_S = 20
"""Longer than clients keep an idle connection (httpx: 5 s), or one is closed while they ask."""
_BACKLOG = 2048


class _Uvicorn(uvicorn.Server):
    """Leaves signals to us: runs end before the server does.

    Args:
        config: uvicorn's.
        on_started: called once the server answers.
    """

    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say so."""
        await super().startup(sockets)
        self._on_started()


async def serve(options: ServerOptions, *, exact_port: bool, open_browser: bool) -> None:
    """Serve until a signal comes.

    Args:
        options: what the user asked for.
        exact_port: a port that is taken is an error; else it is the next one.
        open_browser: open the page.

    Raises:
        UsageError: it cannot listen there.
    """
    listening = listen(options.host, options.port, 0 if exact_port else _MORE_PORTS)
    port: int = listening.getsockname()[1]
    if port != options.port and options.port:
        echo(f"port {options.port} is taken: this is {port}")
    options = replace(options, port=port)
    access = Access(options.host, port)
    with listening:
        async with RunManager(
            options.store, "process", options.max_parallel, wait_for_project=True
        ) as manager:
            server = Server(options, manager)
            await server.attach()
            web = _Uvicorn(
                uvicorn.Config(
                    Guard(
                        make_app(server), access, server.body_limits
                    ),  # around all, errors and plugins too
                    http="h11",  # whose limit of headers we know
                    ws=SharedFramesProtocol,
                    ws_max_size=MAX_MESSAGE_BYTES,
                    ws_per_message_deflate=False,
                    h11_max_incomplete_event_size=MAX_HEADER_BYTES,
                    log_level="error",
                    access_log=False,  # an address may have the token
                    server_header=False,
                    proxy_headers=False,
                    timeout_keep_alive=_KEEP_ALIVE_S,
                    timeout_graceful_shutdown=_DRAIN_S,
                    lifespan="off",
                ),
                partial(_announce, options, access, open_browser=open_browser),
            )
            importing = asyncio.create_task(server.import_agents())
            with _ended_by_signals(server, web):
                await web.serve([listening])
            importing.cancel()
            await server.aclose()


def listen(host: str, port: int, more: int) -> socket.socket:
    """A socket that listens on the port, or on one of so many next ones.

    Raises:
        UsageError: it cannot.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise UsageError(f"--host {host}: {error}") from error
    for number in range(port, port + more + 1):
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((address[0], number, *address[2:]))
            listening.listen(_BACKLOG)
            return listening
        except OSError as error:
            listening.close()
            problem = error
    raise UsageError(
        f"cannot listen on {host}, port {port}: {problem.strerror or problem}",
        hint="`--port 0` takes any that is free",
    ) from problem


def address_of(access: Access) -> str:
    """The address with the token."""
    host = f"[{access.host}]" if ":" in access.host else access.host
    return f"http://{host}:{access.port}/?token={access.token}"


def _announce(options: ServerOptions, access: Access, *, open_browser: bool) -> None:
    address = address_of(access)
    echo(f"retrai serves {', '.join(map(str, options.roots))}")
    echo(address)
    if open_browser:
        webbrowser.open(address)


@contextlib.contextmanager
def _ended_by_signals(server: Server, web: uvicorn.Server) -> Iterator[None]:
    """The first signal ends the runs, then the server; the second everything at once."""
    loop = asyncio.get_running_loop()
    stopping: list[asyncio.Task[None]] = []

    async def stop() -> None:
        try:
            await server.stop()
        finally:
            web.should_exit = True

    def on_signal() -> None:
        if stopping:
            os._exit(130)
        stopping.append(asyncio.create_task(stop()))
        with contextlib.suppress(OSError):  # standard error may lie on a full disk
            echo("stopping; once more stops at once", err=True)

    heeded = [number for number in _SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    for number in heeded:
        loop.add_signal_handler(number, on_signal)
    try:
        yield
    finally:
        for number in heeded:
            loop.remove_signal_handler(number)
