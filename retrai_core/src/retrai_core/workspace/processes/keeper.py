"""A keeper: the process of a sandbox that runs commands, and leaves no descendant of theirs alive.

Runs in an interpreter of its own, with the standard library alone, and forks one command after the
other; commands that run side by side have a keeper each. Why retrai does not start commands itself:

- Limits, session and death signal are set between fork and exec in a process with one thread, where
  that is safe. In retrai itself, with its threads, it is not (`Popen(preexec_fn=...)`), and a fork
  of this small process costs less.
- On Linux the keeper is a *child subreaper* (prctl(2)): a daemon that left the command's group and
  session becomes the keeper's child, so it is found, ended and reaped, and known to be of this
  command and of no other that runs beside it.
- retrai may be killed at any moment. Then the control socket closes, and the keeper ends its
  command. If the keeper is killed, the kernel kills the command (PR_SET_PDEATHSIG: bound to the
  thread that forked, of which a keeper has one), and its parent, a subreaper too, the rest.

Elsewhere (macOS) there is no subreaper: the process group is ended, a daemon that left it is not.
"""

from __future__ import annotations

import marshal
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, cast

from .descendants import (
    become_subreaper,
    descendants,
    die_with,
    has_children,
    parents_now,
    send_signal,
)
from .protocol import BEGIN, KILL_TIMEOUT_S, TERMINATE, Request, receive, send

_LIMITS = {
    "cpu_s": resource.RLIMIT_CPU,
    "memory_bytes": resource.RLIMIT_AS,
    "file_bytes": resource.RLIMIT_FSIZE,
    "core_bytes": resource.RLIMIT_CORE,
}


def keep(control: socket.socket) -> None:
    """Run commands, each to its end, and tell how it went; until retrai hangs up."""
    become_subreaper()
    woken = _listen_for_children()
    while (received := _next_request(control)) is not None:
        answer = _run(control, woken, *received)
        try:
            send(control, answer)
        except OSError:
            return  # retrai has gone, and nobody wants to know
        if answer.get("left"):
            return  # the next command is not to be taken for the father of these


def _next_request(control: socket.socket) -> tuple[Request, list[int]] | None:
    """A request and its three streams; None when retrai has hung up."""
    while True:
        note, handles, _, _ = socket.recv_fds(control, 1, 3)
        if not note:
            return None
        # Else it is an order that came when its command had just ended.
        if note == BEGIN:
            request = receive(control)
            return None if request is None else (cast(Request, request), list(handles))


def _run(
    control: socket.socket, woken: int, request: Request, streams: list[int]
) -> dict[str, Any]:
    """Run one command to its end, whichever end that is."""
    failed, report_failure = os.pipe()
    keeper = os.getpid()
    pid = os.fork()
    if pid == 0:
        _in_child(lambda: _become(request, keeper, streams, report_failure))
    for handle in (*streams, report_failure):
        os.close(handle)
    problem = os.read(failed, 65_536)
    os.close(failed)
    if problem:
        os.waitpid(pid, 0)
        return marshal.loads(problem)
    status, left = _wait(control, woken, pid, request["grace_s"], request["wraps"])
    return {"exit_code": os.waitstatus_to_exitcode(status), "left": left}


def _become(request: Request, keeper: int, streams: list[int], report: int) -> None:
    """Turn this forked process into the command; what fails goes to `report`."""
    step = "start"
    try:
        os.setsid()
        die_with(keeper)
        _be_first_to_go()
        for path in request["joins"]:
            with open(path, "wb", buffering=0) as file:
                file.write(b"0")
        for name, value in request["limits"].items():
            _limit(_LIMITS[name], value)
        # Copied first: a high number cannot be overwritten by a low one.
        for number, handle in enumerate([os.dup(handle) for handle in streams]):
            os.dup2(handle, number)
        for handle in streams:
            os.close(handle)
        for number, path in request["opens"].items():
            os.dup2(os.open(path, os.O_RDONLY), number)
        step = "cwd"
        os.chdir(request["cwd"])
        step = "exec"
        _restore_signals()
        os.execvpe(request["argv"][0], request["argv"], request["env"])
    except (OSError, ValueError) as error:
        number = getattr(error, "errno", None) or 0
        os.write(report, marshal.dumps({"failed": step, "errno": number, "text": str(error)}))


def _wait(
    control: socket.socket, woken: int, pid: int, grace_s: float, wraps: bool
) -> tuple[int, int]:
    """Wait for the command; its status, and how many descendants could not be ended."""
    status: int | None = None
    kill_at: float | None = None
    watched: list[Any] = [woken, control]
    while status is None:
        wait_s = None if kill_at is None else max(0.0, kill_at - time.monotonic())
        ready, _, _ = select.select(watched, [], [], wait_s)
        if woken in ready:
            os.read(woken, 4096)
        status = _reap(pid)
        if control in ready:
            order = _order(control)
            if order == TERMINATE and kill_at is None:
                kill_at = time.monotonic() + grace_s
                _ask_to_end(pid, wraps)
                continue
            watched.remove(control)
            kill_at = 0.0
        if kill_at is not None and time.monotonic() >= kill_at:
            break
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    return _end_descendants(pid, status)


def _ask_to_end(leader: int, wraps: bool) -> None:
    """SIGTERM to the process group; not to a leader that would end the command by its own end."""
    with suppress(OSError):
        if not wraps:
            os.killpg(leader, signal.SIGTERM)
            return
    for pid in descendants(leader, parents_now()):
        with suppress(OSError):
            if os.getpgid(pid) == leader:
                os.kill(pid, signal.SIGTERM)


def _order(control: socket.socket) -> bytes:
    try:
        return control.recv(1)
    except ConnectionError:
        return b""  # retrai was killed with something unread


def _reap(main: int) -> int | None:
    """Reap what has ended; the status of `main` when it was among them."""
    found: int | None = None
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == main:
                found = status
    return found


def _end_descendants(main: int, status: int | None) -> tuple[int, int]:
    """Kill and reap until nothing is left below this process."""
    give_up_at = time.monotonic() + KILL_TIMEOUT_S
    pause_s = 0.0005
    while True:
        found = _reap(main)
        status = found if found is not None else status
        if not has_children():
            break
        if time.monotonic() > give_up_at:
            left = max(1, len(descendants(os.getpid(), parents_now())))
            return (signal.SIGKILL if status is None else status), left
        # Stopped first, so that none forks while the others are being killed.
        stopped: set[int] = set()
        while new := set(descendants(os.getpid(), parents_now())) - stopped:
            for pid in new:
                send_signal(pid, signal.SIGSTOP)
            stopped |= new
        for pid in stopped:
            send_signal(pid, signal.SIGKILL)
        time.sleep(pause_s)
        pause_s = min(0.05, pause_s * 2)
    return (signal.SIGKILL if status is None else status), 0


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
    # At the CPU limit SIGXCPU comes first and can be caught; a second later SIGKILL follows.
    top = bounded + 1 if kind == resource.RLIMIT_CPU else bounded
    resource.setrlimit(kind, (bounded, top if hard == resource.RLIM_INFINITY else min(top, hard)))


def _be_first_to_go() -> None:
    """Where memory runs out, Linux ends the command and not what waits for it (proc(5))."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "wb", buffering=0) as file:
        file.write(b"800")


def _listen_for_children() -> int:
    """A file descriptor that becomes readable when a child ends."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    return woken


def _restore_signals() -> None:
    """As a program finds them that a shell starts; Python ignores some."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _in_child(work: Callable[[], None]) -> NoReturn:
    """Do `work` in a forked process and end it there, whatever happens."""
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)


def main() -> None:
    """Be the parent of a keeper that uses the socket whose number is the last argument."""
    os.chdir("/")
    control = socket.socket(fileno=int(sys.argv[-1]))
    control.set_inheritable(False)
    become_subreaper()
    keeper = os.fork()
    if keeper == 0:
        _in_child(lambda: keep(control))
    control.close()
    _, status = os.waitpid(keeper, 0)
    _end_descendants(keeper, status)  # where somebody killed the keeper: all that it kept
