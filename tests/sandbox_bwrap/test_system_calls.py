"""Some doors no namespace closes; the filter of system calls does."""

from __future__ import annotations

import ctypes
import os
import platform
import socket
import struct

import pytest

from retrai_sandbox_bwrap.system_calls import filter_program

from .conftest import SECRET, attempt_python

NUMBERS = {
    "x86_64": {"add_key": 248, "keyctl": 250, "io_uring_setup": 425, "userfaultfd": 323},
    "aarch64": {"add_key": 217, "keyctl": 219, "io_uring_setup": 425, "userfaultfd": 282},
}.get(platform.machine(), {})
pytestmark = pytest.mark.skipif(not NUMBERS, reason="no filter for this machine")

CALL = """
import ctypes, sys
number, *arguments = (int(word) for word in sys.argv[1:])
text = ctypes.create_string_buffer(200)
libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(number, *(text if word == -99 else word for word in arguments))
print(ctypes.get_errno() if result < 0 else text.value.decode() or "done")
"""
"""Calls a system call; -99 stands for an address, and what is written there is shown."""
SOCKET = """
import socket, sys
try:
    socket.socket(int(sys.argv[1]), socket.SOCK_STREAM)
    print("made")
except OSError as error:
    print(error.errno)
"""
OLD_CALL = """
import ctypes, mmap, struct, sys
words = [struct.pack("<i", int(word)) for word in sys.argv[1:]]
registers = (b"\\xb8", b"\\xbb", b"\\xb9", b"\\xba")
load = b"".join(register + word for register, word in zip(registers, words))
page = mmap.mmap(-1, 4096, prot=7)
page.write(b"\\x53" + load + b"\\xcd\\x80\\x5b\\xc3")  # push rbx; ...; int 0x80; pop rbx; ret
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
"""
"""Calls a system call of 32 bits from a program of 64."""
PERMISSION, NO_CALL, NO_FAMILY = 1, 38, 97
SESSION_KEYRING, READ = -3, 11


@pytest.fixture
def key():
    """A key in the session of the user's; its number."""
    libc = ctypes.CDLL(None, use_errno=True)
    data = SECRET.encode()
    number = libc.syscall(
        NUMBERS["add_key"], b"user", b"retrai-test", data, len(data), SESSION_KEYRING
    )
    if number < 0:
        pytest.skip("this machine keeps no keys")
    yield number
    libc.syscall(NUMBERS["keyctl"], 9, number, SESSION_KEYRING)  # unlink


async def test_keys_of_the_user_s_session_are_out_of_reach(walled, local, key):
    words = [str(word) for word in (NUMBERS["keyctl"], READ, key, -99, 100)]
    assert (await attempt_python(walled, CALL, *words)).stdout == f"{PERMISSION}\n"
    assert (await attempt_python(local, CALL, *words)).stdout == f"{SECRET}\n"


async def test_a_hypervisor_is_out_of_reach(walled, local):
    words = [str(getattr(socket, "AF_VSOCK", 40))]
    assert (await attempt_python(walled, SOCKET, *words)).stdout == f"{NO_FAMILY}\n"
    if (await attempt_python(local, SOCKET, *words)).stdout != "made\n":
        pytest.skip("none is in reach of this machine")


@pytest.mark.parametrize("name", ["io_uring_setup", "userfaultfd"])
async def test_what_holes_were_in_is_refused(walled, name):
    words = [str(NUMBERS[name]), "1", "-99"]
    assert (await attempt_python(walled, CALL, *words)).stdout == f"{PERMISSION}\n"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other ABIs of x86_64")
async def test_another_abi_is_no_way_round(walled, local):
    x32 = str(0x4000_0000 + NUMBERS["keyctl"])
    assert (await attempt_python(walled, CALL, x32, "0", "-3")).stdout == f"{NO_CALL}\n"
    if (await attempt_python(local, OLD_CALL, "20")).exit_code != 0:
        pytest.skip("the kernel runs no programs of 32 bits")
    for words, refused in (
        (("288", "0", "-3"), PERMISSION),  # keyctl
        (("359", "40", "1"), NO_FAMILY),  # socket
        (("102", "1", "0"), NO_FAMILY),  # socketcall
    ):
        assert (await attempt_python(walled, OLD_CALL, *words)).stdout == f"{-refused}\n"
    assert int((await attempt_python(walled, OLD_CALL, "359", "2", "1", "0")).stdout) > 2


def run(program: bytes, name: int, number: int, argument: int = 0) -> int:
    """What a filter returns, worked out as the kernel does (linux/filter.h)."""
    data = struct.pack("=IIQ6Q", number, name, 0, argument, *[0] * 5)
    held, at = 0, 0
    while True:
        code, yes, no, value = struct.unpack_from("=HBBI", program, 8 * at)
        at += 1
        if code == 0x20:
            held = struct.unpack_from("=I", data, value)[0]
        elif code == 0x15:
            at += yes if held == value else no
        elif code == 0x35:
            at += yes if held >= value else no
        else:
            return value


ALLOW, ERROR = 0x7FFF_0000, 0x0005_0000


@pytest.mark.parametrize(
    ("machine", "name", "keyctl", "make_socket"),
    [
        ("x86_64", 0xC000_003E, 250, 41),
        ("x86_64", 0x4000_0003, 288, 359),
        ("aarch64", 0xC000_00B7, 219, 198),
    ],
)
def test_each_abi_has_its_numbers(machine, name, keyctl, make_socket):
    program = filter_program(machine)
    assert run(program, name, keyctl) == ERROR | PERMISSION
    assert run(program, name, 3) == ALLOW
    assert run(program, name, make_socket, 40) == ERROR | NO_FAMILY
    # The kernel takes the lower half of the argument, and so must the filter.
    assert run(program, name, make_socket, (1 << 32) | 40) == ERROR | NO_FAMILY
    assert [run(program, name, make_socket, family) for family in (1, 2, 10, 16)] == [ALLOW] * 4
    assert run(program, 0x4000_0028, 3) == ERROR | NO_CALL, "another architecture"


def test_a_machine_whose_numbers_are_not_known_has_no_filter():
    assert filter_program("riscv64") is None


async def test_no_descriptor_of_retrai_is_left_open(walled):
    code = "import os; print(sorted(os.listdir('/proc/self/fd')))"
    assert (await attempt_python(walled, code)).stdout == "['0', '1', '2', '3']\n", "3: the folder"
    assert os.path.exists(walled._opens[64])
