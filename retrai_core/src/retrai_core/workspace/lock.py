"""The lock of a project, for one run at a time; the system drops it with the process."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from ..errors import StateFolderError, WorkspaceLockedError

_CHILD_LIMIT_S = 2.0


class WorkspaceLock:
    """Locks a project for one run; a context manager.

    The lock is an `flock` on a file in the state folder: the system drops it when the process ends,
    however that happens, and nothing is written into the project. The file stays when the lock is
    given back, because removing it would race with whoever opens it next. Processes that we start
    do not inherit it.

    Args:
        project: the project's folder; two paths of one folder are one project.
        state_dir: retrai's state folder.
        run_id: the run that wants it.

    Raises:
        WorkspaceLockedError: on entering, while another run holds it; the message names that run.
        StateFolderError: on entering, where the state folder cannot be written to.
    """

    def __init__(self, project: Path, state_dir: Path, run_id: str) -> None:
        self.project = Path(os.path.realpath(project))
        self.run_id = run_id
        name = hashlib.sha256(os.fsencode(self.project)).hexdigest()[:24]
        self.path = state_dir / "locks" / f"{name}.lock"
        self._handle = -1

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StateFolderError(self.path.parent.parent, error) from error
        try:
            _lock(handle)
        except OSError as error:
            held = error.errno in (errno.EWOULDBLOCK, errno.EACCES)
            holder = _holder(handle)
            os.close(handle)
            if not held:
                raise
            run_id, process = holder
            who = f"run {run_id} (process {process})" if run_id else "another run"
            # What is no run (`undo of ...`) ends soon, and cannot be cancelled.
            is_run = bool(run_id) and " " not in run_id
            end = f", or end it: `retrai runs cancel {run_id}`" if is_run else ""
            raise WorkspaceLockedError(
                f"{who} works in {self.project}",
                hint=f"wait for it{end}",
                holder=run_id,
            ) from None
        note = {"run_id": self.run_id, "pid": os.getpid(), "project": str(self.project)}
        try:
            os.ftruncate(handle, 0)
            os.pwrite(handle, json.dumps(note).encode(), 0)
        except OSError as error:
            os.close(handle)
            raise StateFolderError(self.path.parent.parent, error) from error
        self._handle = handle
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._handle >= 0:
            os.ftruncate(self._handle, 0)
            os.close(self._handle)
            self._handle = -1


def _lock(handle: int) -> None:
    """Take the lock, or raise `OSError` at once while another run holds it.

    Where that run's process is gone, what holds it still is a child of it that has not yet begun
    its program, and lets go when it does.
    """
    deadline = time.monotonic() + _CHILD_LIMIT_S
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            _, process = _holder(handle)
            if not process or is_alive(process) or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def is_alive(process: int) -> bool:
    """Whether there is a process of this number; where that is not known, yes."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _holder(handle: int) -> tuple[str, int]:
    """The run and the process that hold the lock; an empty id where that is not known."""
    try:
        note = json.loads(os.pread(handle, 65_536, 0))
        return str(note["run_id"]), int(note["pid"])
    except (ValueError, KeyError, TypeError):
        return "", 0  # it has the lock and is just about to write its name
