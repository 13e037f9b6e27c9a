"""One command of a host: what it printed, how it ended, and what it left running."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_MARK = "HOSTILE_TABLE"
"""Every child inherits this variable, so that what is left running can be found."""


@dataclass(frozen=True)
class Done:
    """How a command ended.

    Attributes:
        exit_code: None when it had to be ended after the time-out.
        out: standard output.
        err: standard error.
        left: what still ran when it had ended, as process ids; they are ended.
        cpu_s: seconds of user and system time, its children's included.
        peak_mb: the most memory that it held, in megabytes.
    """

    exit_code: int | None
    out: str
    err: str
    left: Sequence[int]
    cpu_s: float
    peak_mb: float

    @property
    def text(self) -> str:
        """All that it printed, on one line: terminals wrap where they like."""
        return " ".join(f"{self.out} {self.err}".split())


def run(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], timeout_s: float
) -> Done:
    """Run a command to its end, or end it with all that it started."""
    mark = uuid.uuid4().hex
    out_path, err_path = folder.parent / "out.txt", folder.parent / "err.txt"
    with out_path.open("wb") as out, err_path.open("wb") as err:
        child = subprocess.Popen(
            arguments,
            cwd=folder,
            env={**environment, _MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        status, cpu_s, peak_mb = _wait(child, timeout_s)
    left = _running(mark)
    for pid in left:
        _end(pid)
    return Done(
        status,
        out_path.read_text(errors="replace"),
        err_path.read_text(errors="replace"),
        left,
        cpu_s,
        peak_mb,
    )


def _wait(child: subprocess.Popen[bytes], timeout_s: float) -> tuple[int | None, float, float]:
    deadline = time.monotonic() + timeout_s
    late = False
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            code = None if late else child.returncode
            return code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
        if not late and time.monotonic() > deadline:
            late = True
            _end(child.pid)
        time.sleep(0.02)


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _running(mark: str) -> list[int]:
    """The processes whose environment has our mark; Linux only, none elsewhere."""
    wanted = f"{_MARK}={mark}".encode()
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in entry.read_bytes():
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found
