"""Commands reach no network, and have a loopback interface of their own."""

from __future__ import annotations

import contextlib
import socket
import threading

import pytest
from typing_extensions import override

from retrai_core import Tool

from .conftest import attempt_python

TCP = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5) as there:
    there.sendall(b"leaked")
"""
UDP = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as there:
    there.sendto(b"leaked", ("127.0.0.1", int(sys.argv[1])))
"""
ABSTRACT = """
import socket, sys
with socket.socket(socket.AF_UNIX) as there:
    there.connect("\\0" + sys.argv[1])
    there.sendall(b"leaked")
"""
AMONG_THEMSELVES = """
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: server.accept()[0].sendall(b"hello")).start()
with socket.create_connection(server.getsockname(), timeout=5) as client:
    print(client.recv(5).decode())
"""


class Listener:
    """A server of the test's; what it has heard."""

    def __init__(self, server: socket.socket) -> None:
        self.server = server
        self.heard: list[bytes] = []
        self.something = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self.server.getsockname()[1]

    def _listen(self) -> None:
        while True:
            try:
                if self.server.type == socket.SOCK_DGRAM:
                    data = self.server.recv(100)
                else:
                    connection, _ = self.server.accept()
                    with connection:
                        data = connection.recv(100)
            except OSError:
                return
            self.heard.append(data)
            self.something.set()


@pytest.fixture
def listen():
    servers: list[socket.socket] = []

    def start(server: socket.socket) -> Listener:
        servers.append(server)
        return Listener(server)

    yield start
    for server in servers:
        with contextlib.suppress(OSError):  # a datagram socket that nobody is connected to
            server.shutdown(socket.SHUT_RDWR)
        server.close()


async def test_no_tcp(walled, local, listen):
    listener = listen(socket.create_server(("127.0.0.1", 0)))
    done = await attempt_python(walled, TCP, str(listener.port))
    assert done.exit_code != 0
    assert listener.heard == []
    await attempt_python(local, TCP, str(listener.port))
    assert listener.something.wait(10)


async def test_no_udp(walled, local, listen):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))
    listener = listen(server)
    await attempt_python(walled, UDP, str(listener.port))
    await attempt_python(local, UDP, str(listener.port))
    assert listener.something.wait(10)
    assert listener.heard == [b"leaked"]


async def test_no_abstract_socket(walled, local, listen, tmp_path):
    server = socket.socket(socket.AF_UNIX)
    server.bind(f"\0retrai-{tmp_path.name}-{id(tmp_path)}")
    server.listen()
    name = server.getsockname()[1:].decode()
    listener = listen(server)
    done = await attempt_python(walled, ABSTRACT, name)
    assert done.exit_code != 0
    await attempt_python(local, ABSTRACT, name)
    assert listener.something.wait(10)
    assert listener.heard == [b"leaked"]


async def test_no_socket_in_a_folder_that_is_shown(make, local, listen, home):
    path = str(home / ".cargo" / "s")
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    listener = listen(server)
    code = ABSTRACT.replace('"\\0" + ', "")
    assert (await attempt_python(await make(), code, path)).exit_code != 0
    assert listener.heard == []
    await attempt_python(local, code, path)
    assert listener.something.wait(10)
    assert (await attempt_python(await make(show=[path]), code, path)).exit_code == 0


async def test_a_service_that_ends_stops_no_command(make, home):
    path = home / ".cargo" / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        sandbox = await make()
        assert (await attempt_python(sandbox, "print(1)")).exit_code == 0
    path.unlink()
    assert (await attempt_python(sandbox, "print(1)")).exit_code == 0


async def test_a_service_that_ends_while_a_command_is_started_stops_it_not(make, home):
    path = home / ".cargo" / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        sandbox = await make()
        # Between the look at the socket and the mount over it.
        sandbox._around = ["/bin/sh", "-c", f'rm -f {path}; exec "$@"', "sh"]
        done = await attempt_python(sandbox, "print(1)")
    assert (done.exit_code, done.stdout) == (0, "1\n"), done.stderr


async def test_no_service_of_the_system_is_in_reach(walled):
    code = "import glob; print(glob.glob('/run/*') + glob.glob('/var/run/*'))"
    assert (await attempt_python(walled, code)).stdout.strip() == "[]"


async def test_a_suite_can_serve_and_ask_itself(walled):
    done = await attempt_python(walled, AMONG_THEMSELVES)
    assert done.stdout == "hello\n", done.stderr


async def test_the_user_can_open_the_network(make, listen):
    listener = listen(socket.create_server(("127.0.0.1", 0)))
    await attempt_python(await make(network="on"), TCP, str(listener.port))
    assert listener.something.wait(10)


class _Fetch(Tool):
    """A tool that says what it needs."""

    name = "fetch"
    description = "Fetch."

    @override
    async def run(self, args, context):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("needs", "reaches"), [({"run", "network"}, True), ({"network"}, False), ({"run"}, False)]
)
async def test_a_tool_that_starts_programs_for_the_network_opens_it(
    make, context, listen, needs, reaches
):
    class Fetch(_Fetch):
        pass

    Fetch.needs = frozenset(needs)
    context.tools["fetch"] = Fetch(Fetch.Options(), context)
    listener = listen(socket.create_server(("127.0.0.1", 0)))
    done = await attempt_python(await make(), TCP, str(listener.port))
    assert (done.exit_code == 0) is reaches
