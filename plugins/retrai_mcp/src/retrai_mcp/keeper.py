"""Stands between retrai and a server's program: whatever becomes of either, nothing is left.

Run as a script of its own by the interpreter that runs retrai, with the standard library alone:
`keeper.py LIFE PROGRAM ARGUMENT...`. The program has the keeper's standard streams. LIFE is the
number of a pipe that retrai holds open; it is closed when retrai is done with the server, and by
the kernel when retrai is killed. Then, or when the program ends, every process that it left is
killed: its process group, and on Linux also daemons, of which this process becomes the father.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_GIVE_UP_S = 5.0


def main() -> int:
    """Run the program to its end, or until retrai lets go; its exit code as a shell gives it."""
    life, argv = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    try:
        program = subprocess.Popen(argv, start_new_session=True)
    except OSError as error:
        print(f"{argv[0]}: {error.strerror}", file=sys.stderr)
        return 127
    _let_go_of_streams()
    while not _has_ended(program.pid):
        ready, _, _ = select.select([life, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
        if life in ready:
            break
    # Not reaped yet: until then nothing else can have the number of its group.
    with suppress(OSError):
        os.killpg(program.pid, signal.SIGKILL)
    code = program.wait()
    _end_the_rest()
    return code if code >= 0 else 128 - code


def _let_go_of_streams() -> None:
    """The program alone holds its pipes, so that retrai sees them close."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end_the_rest() -> None:
    """Kill and reap what the program left behind."""
    give_up_at = time.monotonic() + _GIVE_UP_S
    while time.monotonic() < give_up_at:
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            return
        for pid in _children():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)


def _children() -> list[int]:
    found: list[int] = []
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        with suppress(OSError, ValueError, IndexError):
            said = Path(f"/proc/{int(name)}/stat").read_text("utf-8", "replace")
            if int(said.rpartition(")")[2].split()[1]) == os.getpid():
                found.append(int(name))
    return found


if __name__ == "__main__":
    sys.exit(main())
