"""The filter of system calls: what a command could reach though it has no privilege.

A program of classic BPF for seccomp(2), as bubblewrap's `--seccomp` takes it. Refused is what no
namespace divides (keys of the user's session, the kernel's log, sockets of the machine that are on
no network, as to a hypervisor), and what most holes for the unprivileged were in (bpf, io_uring,
perf, userfaultfd). Containers refuse the same by default, so that suites can do without it.
Namespaces, mounts, modules and the clock need no entry: they want a privilege that commands lack.
"""

from __future__ import annotations

import errno
import os
import platform
import struct
import tempfile
from dataclasses import dataclass

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
"""BPF_LD | BPF_W | BPF_ABS; BPF_JMP | BPF_JEQ and BPF_JGE; BPF_RET (linux/bpf_common.h)."""
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
"""Where they stand in `struct seccomp_data`; of the argument the half that is an `int`."""
_ALLOW, _ERROR = 0x7FFF_0000, 0x0005_0000
_X32 = 0x4000_0000
"""Set in the numbers of the x32 ABI, which goes by the name of x86_64."""
_SOCKETCALL_SOCKET = 1
_FAMILIES = (1, 2, 10, 16)
"""What sockets may be: AF_UNIX, AF_INET, AF_INET6, AF_NETLINK (linux/socket.h)."""

_Instruction = tuple[int, int, int, int]
"""Code, jump if true, jump if false, value."""
_PASS: _Instruction = (_RETURN, 0, 0, _ALLOW)


@dataclass(frozen=True)
class _Table:
    """Numbers of system calls under one ABI (asm/unistd.h).

    Attributes:
        name: its AUDIT_ARCH_* value (linux/audit.h).
        refused: add_key, request_key, keyctl, bpf, perf_event_open, userfaultfd, syslog,
            io_uring_setup, io_uring_enter, io_uring_register.
        socket: the call that makes a socket.
        socketcall: the old one for many things, whose family a filter cannot see.
        x32: whether calls of the x32 ABI come under this name.
    """

    name: int
    refused: tuple[int, ...]
    socket: int
    socketcall: int | None = None
    x32: bool = False


_TABLES = {
    "x86_64": (
        _Table(0xC000_003E, (248, 249, 250, 321, 298, 323, 103, 425, 426, 427), 41, x32=True),
        _Table(0x4000_0003, (286, 287, 288, 357, 336, 374, 103, 425, 426, 427), 359, 102),
    ),
    "aarch64": (_Table(0xC000_00B7, (217, 218, 219, 280, 241, 282, 116, 425, 426, 427), 198),),
}


def filter_program(machine: str = platform.machine()) -> bytes | None:
    """The filter for a machine (`x86_64`, `aarch64`); None for one whose numbers are not known.

    A program for another ABI than the machine's own ones finds no system call at all (ENOSYS).
    """
    if machine not in _TABLES:
        return None
    made: list[_Instruction] = []
    for table in _TABLES[machine]:
        rules = _rules(table)
        made += [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 0, len(rules), table.name), *rules]
    made.append(_refuse(errno.ENOSYS))
    return b"".join(struct.pack("=HBBI", *one) for one in made)


def open_filter() -> int | None:
    """The filter for this machine in a file without a name, by its descriptor.

    On the disk: not every build of Python can make one in memory, nor does every machine let it.
    """
    program = filter_program()
    if program is None:
        return None
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(program)
        return os.dup(file.fileno())


def _rules(table: _Table) -> list[_Instruction]:
    made: list[_Instruction] = [(_LOAD, 0, 0, _NUMBER)]
    if table.x32:
        made += [(_AT_LEAST, 0, 1, _X32), _refuse(errno.ENOSYS)]
    for number in table.refused:
        made += [(_EQUAL, 0, 1, number), _refuse(errno.EPERM)]
    made += [(_EQUAL, 0, 2 * len(_FAMILIES) + 2, table.socket), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
    for family in _FAMILIES:
        made += [(_EQUAL, 0, 1, family), _PASS]
    made.append(_refuse(errno.EAFNOSUPPORT))
    if table.socketcall is not None:
        made += [(_EQUAL, 0, 3, table.socketcall), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
        made += [(_EQUAL, 0, 1, _SOCKETCALL_SOCKET), _refuse(errno.EAFNOSUPPORT)]
    made.append(_PASS)
    return made


def _refuse(number: int) -> _Instruction:
    return (_RETURN, 0, 0, _ERROR | number)
