"""Where runs are kept: `runs/<id>/` under the user's state folder, never in the project."""

from __future__ import annotations

import fcntl
import shutil
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempprefix

from pydantic import ValidationError

from ..contracts.store import UnreadableRun
from ..errors import RunNotFoundError, StateFolderError, UnreadableRunError, UsageError
from ..guard.held_files import holds_files_of
from ..storage.killed import completed
from ..storage.state_folder import state_dir
from .record import EXIT_CODES, RunRecord

__all__ = ["Pruned", "RunStore", "UnreadableRun", "state_dir"]

_RUNNING = "running.lock"


@dataclass(frozen=True, slots=True)
class Pruned:
    """The ids of runs that were looked at to be deleted.

    Attributes:
        removed: those that are gone.
        spared: those that stay only because they could be resumed.
        unreadable: those that stay only because their record cannot be read.
        failed: why a run could not be deleted, by its id.
    """

    removed: list[str] = field(default_factory=list[str])
    spared: list[str] = field(default_factory=list[str])
    unreadable: list[str] = field(default_factory=list[str])
    failed: dict[str, str] = field(default_factory=dict[str, str])


class RunStore:
    """Finds, lists and prunes runs.

    Args:
        state: the state folder; the user's when left out.
    """

    def __init__(self, state: Path | None = None) -> None:
        self.state = state or state_dir()
        self.runs = self.state / "runs"

    def folder(self, run_id: str) -> Path:
        """The run's folder, which may not exist yet."""
        return self.runs / run_id

    def create(self, record: RunRecord) -> Path:
        """Make the run's folder, readable only by the user, and save the record in it.

        Raises:
            StateFolderError: the state folder cannot be written to.
            UsageError: it lies in the project.
        """
        if self.state.resolve().is_relative_to(record.project.resolve()):
            raise UsageError(
                f"the state folder {self.state} lies in the project, where the agent could change "
                "what is recorded of it",
                hint="name one elsewhere: `RETRAI_STATE_DIR=FOLDER`",
            )
        folder = self.folder(record.id)
        try:
            folder.mkdir(parents=True, mode=0o700)
            record.save(folder)
        except OSError as error:
            raise StateFolderError(self.state, error) from error
        return folder

    def discard(self, run_id: str) -> None:
        """Remove a run that never began."""
        shutil.rmtree(self.folder(run_id), ignore_errors=True)

    def list(self) -> list[RunRecord]:
        """Every readable run, newest first.

        Raises:
            StateFolderError: the state folder cannot be looked into.
        """
        return [run for run in self.entries() if isinstance(run, RunRecord)]

    def entries(self) -> Sequence[RunRecord | UnreadableRun]:
        """Every run, newest first, those whose record cannot be read among them.

        Raises:
            StateFolderError: the state folder cannot be looked into.
        """
        found: list[tuple[float, RunRecord | UnreadableRun]] = []
        for folder in self._folders():
            run = self._read(folder)
            if isinstance(run, UnreadableRun):
                found.append((run.changed_at, run))
            elif run is not None:
                found.append((run.started_at or _changed_at(folder), run))
        return [run for _, run in sorted(found, key=lambda item: -item[0])]

    def load(self, run_id: str) -> RunRecord:
        """The run with this id, or the only one whose id begins with it.

        Raises:
            RunNotFoundError: none or several do.
            UnreadableRunError: its record cannot be read.
            StateFolderError: the state folder cannot be looked into.
        """
        names = sorted(path.name for path in self._folders())
        matching = [run_id] if run_id in names else [n for n in names if n.startswith(run_id)]
        if len(matching) > 1:
            raise RunNotFoundError(
                f"{run_id} may be any of {', '.join(matching)}", hint="give more of the id"
            )
        run = self._read(self.folder(matching[0])) if matching and run_id else None
        if run is None:
            raise RunNotFoundError(
                f"no run {run_id!r} in {self.runs}", hint="`retrai runs list` shows them"
            )
        if isinstance(run, UnreadableRun):
            raise UnreadableRunError(
                f"the record of run {run.id} cannot be read: {run.path}: {run.problem}",
                hint=f"its log may tell what it did: {run.path.with_name('events.jsonl')}",
            )
        return run

    def prune(
        self,
        *,
        keep: int | None = None,
        older_than_days: float | None = None,
        unfinished: bool = False,
        unreadable: bool = False,
    ) -> Pruned:
        """Delete runs beyond the newest `keep`, or older than so many days.

        Args:
            keep: how many stay.
            older_than_days: those stay that ended, or were killed, later than that.
            unfinished: `keep` counts interrupted runs like all others; else they stay beside the
                newest, until they are too old.
            unreadable: those whose record cannot be read count like all others; else they stay.
        """
        limit = time.time() - (older_than_days or 0) * 86_400
        pruned = Pruned()
        passed = 0
        for run in self.entries():
            if self._is_in_use(run):
                continue
            damaged = isinstance(run, UnreadableRun) and not unreadable
            too_many = keep is not None and passed >= keep
            too_old = older_than_days is not None and self._last_change(run) < limit
            waits = isinstance(run, RunRecord) and run.status == "interrupted" and not unfinished
            passed += not (waits or damaged)
            if not (too_many or too_old):
                continue
            if damaged:
                pruned.unreadable.append(run.id)
            elif waits and not too_old:
                pruned.spared.append(run.id)
            elif problem := self._delete(run.id):
                pruned.failed[run.id] = problem
            else:
                pruned.removed.append(run.id)
        return pruned

    def _is_in_use(self, run: RunRecord | UnreadableRun) -> bool:
        if isinstance(run, RunRecord):
            running = run.status == "running"
        else:
            running = self._is_alive(self.folder(run.id))
        return running or holds_files_of(self.state, run.id)

    def _delete(self, run_id: str) -> str:
        """Delete a run's folder; why it could not be, or nothing."""
        folder = self.folder(run_id)
        try:
            if folder.is_symlink():
                folder.unlink()
            else:
                shutil.rmtree(folder)
        except OSError as error:
            if folder.exists():  # no other process has deleted it too
                return f"{error.filename or folder}: {error.strerror or error}"
        return ""

    @contextmanager
    def mark_running(self, run_id: str) -> Generator[None]:
        """While it is held, the run counts as running; the system drops it with the process."""
        with (self.folder(run_id) / _RUNNING).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _folders(self) -> Sequence[Path]:
        try:
            return list(self.runs.iterdir())
        except FileNotFoundError:  # nothing was ever kept there
            return []
        except OSError as error:
            raise StateFolderError(self.state, error) from error

    def _last_change(self, run: RunRecord | UnreadableRun) -> float:
        """When the run ended, or, for one that was killed, when its record was last written."""
        if isinstance(run, UnreadableRun):
            return run.changed_at
        return run.ended_at or _changed_at(self.folder(run.id) / "run.json")

    def _is_alive(self, folder: Path) -> bool:
        try:
            with (folder / _RUNNING).open("r+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def _read(self, folder: Path) -> RunRecord | UnreadableRun | None:
        """The run in this folder; None when it is none, or one that is only being made."""
        try:
            record = RunRecord.load(folder)
        except (OSError, ValueError) as error:  # missing, not text, or not a record
            return _unreadable(folder, error)
        if record.id != folder.name:  # a copy; by its id the other would be pruned
            return _unreadable(folder, ValueError(f"it is the record of run {record.id}"))
        if record.status == "running" and not self._is_alive(folder):
            record.status, record.reason = "interrupted", "its process was killed"
            record.exit_code = EXIT_CODES["interrupted"]
            record.next_step = f"retrai runs resume {record.id}"
            return completed(record, folder / "events.jsonl")
        return record


def _changed_at(path: Path) -> float:
    """When a file or folder last changed; now, where it is just being deleted."""
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()


def _unreadable(folder: Path, error: OSError | ValueError) -> UnreadableRun | None:
    try:
        changed_at = folder.stat().st_mtime
        if all(path.name.startswith(gettempprefix()) for path in folder.iterdir()):
            return None  # its record is being written
    except OSError:  # a file, or gone meanwhile
        return None
    return UnreadableRun(folder.name, folder / "run.json", _problem(error), changed_at)


def _problem(error: OSError | ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return f"{where}: {first['msg'].lower()}" if where else first["msg"]
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
