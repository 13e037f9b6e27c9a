"""The store `files`: `runs/<id>/` in the user's state folder, never in the project.

A run's folder has `run.json` (its record), `events.jsonl`, `journal.jsonl`, `checkpoint.sqlite`,
`questions.jsonl`, `mailbox.jsonl`, `artifacts/` (blobs) and `running.lock`, which its holder locks:
the system drops the lock with the process, so that a dead holder is told from one that sleeps.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import shutil
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempprefix
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from pydantic import BaseModel, ValidationError

from ..contracts.record import UNDER_WAY, RunRecord
from ..contracts.store import (
    Claim,
    Command,
    LogName,
    RunFilter,
    RunStore,
    SentCommand,
    StoreOptions,
    UnreadableRun,
)
from ..errors import (
    ClaimLostError,
    RetraiError,
    RunNotFoundError,
    StateFolderError,
    UnreadableRunError,
    UsageError,
)
from ..events import AgentEvent
from ..workspace.atomic_write import replace_file
from ..workspace.lock import is_alive
from . import changes
from .crash_recovery import interrupted
from .event_log import Marks, next_batch, read_events
from .lines import LineFile, append_once, read_lines
from .state_folder import state_dir

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

_LOCK = "running.lock"
_EVENTS, _CHECKPOINTS = "events.jsonl", "checkpoint.sqlite"
_QUESTIONS, _MAILBOX, _BLOBS = "questions.jsonl", "mailbox.jsonl", "artifacts"
_LONG_BYTES = 100_000
"""What is longer is read in a thread."""
_DEAD_LIMIT_S = 5.0
"""How long the lock of a dead process may be held by a child that has not begun its program."""


class _LockNote(BaseModel):
    """What the lock file says about its last holder."""

    number: int = 0
    """Of its claim."""
    pid: int = 0
    worker: str = ""
    released: bool = False
    """It gave the claim back."""
    saved: bool = False
    """It has saved the record; until then the record is the holder's before."""
    after_release: bool = False
    """The holder before gave its claim back."""


@dataclass(slots=True)
class _Held:
    """A claim of this store object: the locked file, and the files open under it."""

    claim: Claim
    lock: int
    note: _LockNote
    log: LineFile | None = None
    last_seq: int = 0
    problem: RetraiError | None = None
    """Why no event can be written any more."""
    read_mailbox: tuple[int, int] = (0, 0)
    """A command's number, and the mailbox's size in bytes at which no later one was in it."""


class FilesStore(RunStore):
    """Runs in folders under the user's state folder; a claim is a file lock.

    Args:
        options: none are known.
        state: the state folder; the user's when left out.
    """

    name: ClassVar[str] = "files"
    summary: ClassVar[str] = "keeps runs as folders in the user's state folder"

    def __init__(self, options: StoreOptions | None = None, state: Path | None = None) -> None:
        super().__init__(options or StoreOptions())
        self.state = state or state_dir()
        self.runs = self.state / "runs"
        self._held: dict[str, _Held] = {}
        self._marks: dict[str, Marks] = {}

    def folder(self, run_id: str) -> Path:
        """The run's folder, which may not exist yet."""
        return self.runs / run_id

    # Records

    async def create(self, record: RunRecord) -> None:
        """Make the run's folder, readable only by the user, and save the record in it.

        Raises:
            StateFolderError: the state folder cannot be written to.
            UsageError: it lies in the project; or there is a run of this id.
        """
        if not _is_plain(record.id):
            raise UsageError(f"{record.id!r} is no id of a run")
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
        except FileExistsError as error:
            if folder.is_dir():
                raise UsageError(f"there is a run {record.id} already") from error
            raise StateFolderError(self.state, error) from error
        except OSError as error:
            raise StateFolderError(self.state, error) from error
        self._record_changed(record.id)

    async def load(self, run_id: str) -> RunRecord:
        """See the contract.

        Raises:
            RunNotFoundError: none or several do.
            UnreadableRunError: its record cannot be read.
            StateFolderError: the state folder cannot be looked into.
        """
        folder = self._find(run_id)
        run, was_killed = self._look(folder)
        if isinstance(run, RunRecord) and was_killed:
            run = await asyncio.to_thread(interrupted, run, read_events(folder / _EVENTS))
        if run is None:
            raise self.not_found(run_id)
        if isinstance(run, UnreadableRun):
            raise UnreadableRunError(
                f"the record of run {run.id} cannot be read: {run.path}: {run.problem}",
                hint=f"its log may tell what it did: {run.path.with_name(_EVENTS)}",
            )
        return run

    async def list(self, **wanted: Unpack[RunFilter]) -> Sequence[RunRecord | UnreadableRun]:
        """See the contract; those whose record cannot be read are among them.

        Raises:
            StateFolderError: the state folder cannot be looked into.
        """
        return await asyncio.to_thread(lambda: self.select(self._entries(), **wanted))

    async def delete(self, run_id: str) -> None:
        """See the contract.

        Raises:
            RetraiError: a file of it cannot be deleted.
        """
        folder = self._existing(run_id)
        if folder.is_symlink():
            folder.unlink()
        else:
            lock = await self._locked(folder)
            if lock is None:
                raise UsageError(
                    f"run {run_id} is being worked on",
                    hint=f"`retrai runs cancel {run_id}` ends it",
                )
            try:
                await asyncio.to_thread(shutil.rmtree, folder)
            except OSError as error:
                if folder.exists():  # no other process has deleted it too
                    raise RetraiError(
                        f"run {run_id} cannot be deleted: {error.filename or folder}: "
                        f"{error.strerror or error}"
                    ) from error
            finally:
                os.close(lock)
        self._marks.pop(run_id, None)
        self._record_changed(run_id)

    async def save(self, claim: Claim, record: RunRecord) -> None:
        """See the contract."""
        held = self._require(claim)
        try:
            if not held.note.saved:
                held.note = held.note.model_copy(update={"saved": True})
                _write_lock_note(held.lock, held.note)
            record.save(self.folder(claim.run_id))
        except OSError as error:
            raise self._cannot_write("record", claim.run_id, error) from error
        self._record_changed(claim.run_id)

    # Claims

    async def claim(self, run_id: str, worker: str, lease_s: float = 60.0) -> Claim | None:
        """See the contract; the lease never ends before the process does."""
        folder = self._existing(run_id)
        lock = await self._locked(folder)
        if lock is None:
            return None
        if run_id in self._held:  # its folder was removed by hand, and made anew
            await self.release(self._held[run_id].claim)
        last = _lock_note(lock)
        claim = Claim(run_id, worker, last.number + 1)
        note = _LockNote(
            number=claim.number, pid=os.getpid(), worker=worker, after_release=last.released
        )
        try:
            _write_lock_note(lock, note)
        except OSError as error:
            os.close(lock)
            raise StateFolderError(self.state, error) from error
        self._held[run_id] = _Held(claim, lock, note)
        changes.wake(self.runs, run_id)
        return claim

    async def heartbeat(self, claim: Claim) -> None:
        """See the contract."""
        self._require(claim)

    async def release(self, claim: Claim) -> None:
        """See the contract."""
        held = self._held.get(claim.run_id)
        if held is None or held.claim != claim:
            return
        del self._held[claim.run_id]
        if held.log is not None:
            held.log.close()
        with suppress(OSError):
            _write_lock_note(held.lock, held.note.model_copy(update={"released": True}))
        os.close(held.lock)
        changes.wake(self.runs, claim.run_id)

    # Events

    async def append_events(self, claim: Claim, events: Sequence[AgentEvent]) -> int:
        """See the contract.

        Raises:
            RetraiError: they cannot be written (the disk is full); from then on none is.
            ValueError: their numbers do not go on.
        """
        held = self._require(claim)
        if held.problem is not None:
            raise held.problem
        try:
            if held.log is None:
                path = self.folder(claim.run_id) / _EVENTS
                last_seq = await asyncio.to_thread(_last_seq, path)
                self._require(claim)
                if held.log is None:
                    held.log, held.last_seq = LineFile(path), last_seq
            self.check_numbers(events, held.last_seq)
            if events:
                held.log.append(event.to_json() for event in events)
        except OSError as error:
            held.problem = self._cannot_write("log", claim.run_id, error)
            raise held.problem from error
        held.last_seq += len(events)
        changes.wake(self.runs, claim.run_id)
        return held.last_seq

    async def read_events(self, run_id: str, after: int = 0) -> Sequence[AgentEvent]:
        """See the contract."""
        path = self._existing(run_id) / _EVENTS
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            return []
        marks = self._marks.setdefault(run_id, Marks())
        last_seq, offset = marks.before(after, size)
        if offset == size:
            return []
        if size - offset < _LONG_BYTES:
            batch = next_batch(path, after, last_seq, offset)
        else:
            batch = await asyncio.to_thread(next_batch, path, after, last_seq, offset)
        marks.note(batch)
        return batch.events

    # Lines and commands

    async def append(self, claim: Claim, log: LogName, lines: Sequence[str]) -> None:
        """See the contract."""
        self._require(claim)
        try:
            append_once(self.folder(claim.run_id) / _file_of(log), *lines)
        except OSError as error:
            raise self._cannot_write(log, claim.run_id, error) from error
        changes.wake(self.runs, claim.run_id)

    async def lines(self, run_id: str, log: LogName, after: int = 0) -> Sequence[str]:
        """See the contract; a last line that a kill left half written is no line."""
        path = self._existing(run_id) / _file_of(log)
        try:
            is_long = path.stat().st_size > _LONG_BYTES
        except FileNotFoundError:
            return []
        return (await asyncio.to_thread(_lines, path) if is_long else _lines(path))[after:]

    async def send(self, run_id: str, command: Command) -> bool:
        """See the contract."""
        folder = self._existing(run_id)
        try:
            mailbox = LineFile(folder / _MAILBOX)
            try:
                # Of all senders one at a time looks and appends; none does so for long.
                while not _lock_now(mailbox.handle, fcntl.LOCK_EX):  # noqa: ASYNC110 - others'
                    await asyncio.sleep(0.005)
                # A last line without an end counts: the next one is about to end it.
                earlier = _lines(mailbox.path, also_last=True)
                line = self.command_line(command, _lines(folder / _QUESTIONS), earlier)
                if line is not None:
                    mailbox.append([line])
            finally:
                mailbox.close()
        except OSError as error:
            raise self._cannot_write("mailbox", run_id, error) from error
        if line is not None:
            changes.wake(self.runs, run_id)
        return line is not None

    async def commands(self, claim: Claim, after: int) -> Sequence[SentCommand]:
        """See the contract."""
        held, path = self._require(claim), self.folder(claim.run_id) / _MAILBOX
        size = path.stat().st_size if path.exists() else 0
        if (after, size) == held.read_mailbox:  # it is asked for at every change of the run
            return []
        sent = await super().commands(claim, after)
        if not sent:
            held.read_mailbox = after, size
        return sent

    # Changes

    def changes(self, run_id: str | None) -> AsyncIterator[str]:
        """See the contract; what another process did is found within a tenth of a second for one
        run, a third for all."""
        listener = changes.Listener(self.runs, run_id)
        if run_id is None:
            records = changes.Records(lambda: _stat_of(self.runs), self._signatures)
            return changes.changes_of_all(listener, records, self._holder)
        folder = self._existing(run_id)
        return changes.changes_of_run(listener, run_id, lambda: _signature(folder))

    def _signatures(self) -> Mapping[str, object]:
        return {folder.name: _stat_of(folder / "run.json") for folder in self._folders()}

    def _holder(self, run_id: str) -> changes.Holder:
        is_held, note = _holder(self.folder(run_id))
        if is_held:
            return "alive"
        return "dead" if note.number and not note.released else "none"

    def _record_changed(self, run_id: str) -> None:
        # For other processes, which look at the folder of all runs. Not the system's own time of
        # now, which may be the same for two changes.
        now = time.time_ns()
        with suppress(OSError):
            os.utime(self.runs, ns=(now, now))
        changes.wake(self.runs, run_id, record=True)

    # Checkpoints and blobs

    @asynccontextmanager
    async def checkpointer(self, claim: Claim) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
        """See the contract."""
        from .checkpoints import open_checkpoints  # it imports langgraph

        self._require(claim)
        path = self.folder(claim.run_id) / _CHECKPOINTS
        async with open_checkpoints(path, lambda: self._require(claim)) as saver:
            yield saver

    async def put_blob(self, claim: Claim, name: str, data: bytes) -> None:
        """See the contract."""
        self._require(claim)
        folder = self.folder(claim.run_id) / _BLOBS
        self.check_blob_name(name)
        try:
            folder.mkdir(exist_ok=True)
            await asyncio.to_thread(replace_file, folder / name, data)
        except OSError as error:
            raise self._cannot_write(f"artifact {name}", claim.run_id, error) from error

    async def get_blob(self, run_id: str, name: str) -> bytes | None:
        """See the contract."""
        path = self._existing(run_id) / _BLOBS / name
        self.check_blob_name(name)
        try:
            return await asyncio.to_thread(path.read_bytes)
        except FileNotFoundError:
            return None

    async def aclose(self) -> None:
        """Give every claim back."""
        for held in [*self._held.values()]:
            await self.release(held.claim)

    # Folders and locks

    def _folders(self) -> Sequence[Path]:
        try:
            return list(self.runs.iterdir())
        except FileNotFoundError:  # nothing was ever kept there
            return []
        except OSError as error:
            raise StateFolderError(self.state, error) from error

    def _find(self, run_id: str) -> Path:
        """The folder of the run with this id, or of the only one whose id begins with it."""
        if _is_plain(run_id) and (self.folder(run_id) / "run.json").is_file():
            return self.folder(run_id)
        return self.folder(self.find_id(run_id, (path.name for path in self._folders())))

    def _existing(self, run_id: str) -> Path:
        """The folder of the run with exactly this id."""
        folder = self.folder(run_id)
        if not _is_plain(run_id) or not folder.is_dir():
            raise self.not_found(run_id)
        return folder

    def not_found(self, run_id: str) -> RunNotFoundError:
        """See the contract."""
        return RunNotFoundError(
            f"no run {run_id!r} in {self.runs}", hint="`retrai runs list` shows them"
        )

    def _require(self, claim: Claim) -> _Held:
        """What is held under this claim.

        Raises:
            ClaimLostError: it does not hold any more.
        """
        held = self._held.get(claim.run_id)
        # A folder that was removed by hand is no place to write to, and another may stand there.
        if held is None or held.claim != claim or not os.fstat(held.lock).st_nlink:
            raise ClaimLostError(
                f"{claim.worker} does not hold run {claim.run_id} any more: nothing was written"
            )
        return held

    async def _locked(self, folder: Path) -> int | None:
        """The locked file of a run, open; None while a holder has it.

        Who only looks whether there is a holder has a shared lock for a moment.
        """
        try:
            handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            raise self.not_found(folder.name) from None
        except OSError as error:
            raise StateFolderError(self.state, error) from error
        try:
            deadline = time.monotonic() + _DEAD_LIMIT_S
            while not _lock_now(handle, fcntl.LOCK_EX):
                if _lock_now(handle, fcntl.LOCK_SH):
                    fcntl.flock(handle, fcntl.LOCK_UN)
                elif is_alive(_lock_note(handle).pid) or time.monotonic() > deadline:
                    os.close(handle)
                    return None
                await asyncio.sleep(0.002 + 0.001 * (os.getpid() % 7))
            if not os.fstat(handle).st_nlink:  # it was deleted meanwhile
                raise self.not_found(folder.name)
        except BaseException:
            with suppress(OSError):
                os.close(handle)
            raise
        return handle

    # Reading records

    def _entries(self) -> Sequence[RunRecord | UnreadableRun]:
        found = [(folder, *self._look(folder)) for folder in self._folders()]
        return [
            interrupted(run, read_events(folder / _EVENTS))
            if isinstance(run, RunRecord) and was_killed
            else run
            for folder, run, was_killed in found
            if run is not None
        ]

    def _look(self, folder: Path) -> tuple[RunRecord | UnreadableRun | None, bool]:
        """The run in this folder, and whether its holder was killed while it worked."""
        run = self._read(folder)
        if isinstance(run, RunRecord) and self._was_killed(run, folder):
            run = self._read(folder)  # its holder may have saved its end since, and let go
            return run, isinstance(run, RunRecord) and self._was_killed(run, folder)
        return run, False

    def _read(self, folder: Path) -> RunRecord | UnreadableRun | None:
        """The run in this folder; None when it is none, or one that is only being made."""
        try:
            record = RunRecord.load(folder)
        except (OSError, ValueError) as error:  # missing, not text, or not a record
            return _unreadable(folder, error)
        if record.id != folder.name:  # a copy; by its id the other would be pruned
            return _unreadable(folder, ValueError(f"it is the record of run {record.id}"))
        return record

    def _was_killed(self, record: RunRecord, folder: Path) -> bool:
        if record.status not in UNDER_WAY:
            return False
        is_held, note = _holder(folder)
        if is_held and (note.saved or not note.number):  # retrai 0.1 has no numbers
            return False
        # A run that waits for a person may have given its worker back.
        released = note.after_release if is_held else note.released
        return record.status == "running" or not released

    def _cannot_write(self, what: str, run_id: str, error: OSError) -> RetraiError:
        return RetraiError(
            f"the run's {what} cannot be written: {error.strerror or error} "
            f"({error.filename or self.folder(run_id)})",
            hint=f"make room; `retrai runs resume {run_id}` goes on",
        )


def _last_seq(log: Path) -> int:
    return max((event.seq for event in read_events(log)), default=0)


def _is_plain(run_id: str) -> bool:
    return run_id not in ("", ".", "..") and not {"/", "\0"} & {*run_id}


def _file_of(log: LogName) -> str:
    return f"{log}.jsonl"


def _lines(path: Path, *, also_last: bool = False) -> list[str]:
    """The lines of a file; `also_last`: and a last one without an end."""
    lines, end = read_lines(path)
    if also_last:
        with path.open("rb") as file:
            file.seek(end)
            lines.append(file.read())
    return [line.decode("utf-8", "replace") for line in lines]


def _lock_now(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise
        return False
    return True


def _holder(folder: Path) -> tuple[bool, _LockNote]:
    """Whether somebody holds the run, and what the last holder has noted."""
    try:
        handle = os.open(folder / _LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False, _LockNote()
    try:
        return not _lock_now(handle, fcntl.LOCK_SH), _lock_note(handle)
    finally:
        os.close(handle)


def _lock_note(handle: int) -> _LockNote:
    try:
        return _LockNote.model_validate_json(os.pread(handle, 65_536, 0))
    except ValueError:  # empty: nobody has had it, or retrai 0.1
        return _LockNote()


def _write_lock_note(handle: int, note: _LockNote) -> None:
    data = note.model_dump_json().encode()
    os.pwrite(handle, data, 0)
    os.ftruncate(handle, len(data))


def _signature(folder: Path) -> object:
    """Another one after every change of the record, events, questions, mailbox or holder."""

    names = ("run.json", _EVENTS, _QUESTIONS, _MAILBOX)
    return _holder(folder)[0], [_stat_of(folder / name) for name in names]


def _stat_of(path: Path) -> object:
    """Another one after every change of a file or of what is in a folder; None: it is gone."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


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
