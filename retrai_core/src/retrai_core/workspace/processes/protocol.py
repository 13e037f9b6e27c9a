"""What retrai and a keeper say to each other, over a control socket for each keeper.

For each command, retrai sends `b` with the three standard streams, then the request; after that
`t` to end it politely or `k` to kill it; a closed socket is a `k`. The keeper answers once, with
how the command ended. Request and answer are a 4-byte length and marshal: both ends are one
interpreter.
"""

from __future__ import annotations

import marshal
import socket
import struct
from collections.abc import Mapping
from typing import Any, TypedDict

BEGIN = b"b"
TERMINATE = b"t"
KILL = b"k"

KILL_TIMEOUT_S = 5.0
"""How long a killed process may take to vanish (it may sit in an uninterruptible system call)."""

HEADER_BYTES = 4


class Request(TypedDict):
    """What a keeper is asked to run."""

    argv: list[str]
    """The program and its arguments."""
    cwd: str
    """Where it runs."""
    env: dict[str, str]
    """Its whole environment."""
    limits: dict[str, int]
    """Of `cpu_s`, `memory_bytes`, `file_bytes` and `core_bytes` those that it shall have."""
    grace_s: float
    """Seconds between a polite end and SIGKILL."""
    wraps: bool
    """The program runs another one, which shall end by itself when asked to."""
    joins: list[str]
    """The `cgroup.procs` files of the control groups that it shall be in."""
    opens: dict[int, str]
    """Files that it finds open for reading, by descriptor; above 31, where none of its keeper's
    is."""


def framed(message: Mapping[str, Any]) -> bytes:
    """A message as it goes over the control socket."""
    data = marshal.dumps(dict(message))
    return struct.pack("!I", len(data)) + data


def missing_bytes(data: bytes) -> int:
    """How many bytes a message still lacks, as far as can be told; 0 when it is whole."""
    if len(data) < HEADER_BYTES:
        return HEADER_BYTES - len(data)
    return HEADER_BYTES + struct.unpack("!I", data[:HEADER_BYTES])[0] - len(data)


def unframed(data: bytes) -> dict[str, Any]:
    """The message in `data`, which is whole."""
    return marshal.loads(data[HEADER_BYTES:])


def send(control: socket.socket, message: Mapping[str, Any]) -> None:
    """Send one message, blocking."""
    control.sendall(framed(message))


def receive(control: socket.socket) -> dict[str, Any] | None:
    """One message, blocking; None when the other end has hung up."""
    data = b""
    while wanted := missing_bytes(data):
        more = control.recv(wanted)
        if not more:
            return None
        data += more
    return unframed(data)
