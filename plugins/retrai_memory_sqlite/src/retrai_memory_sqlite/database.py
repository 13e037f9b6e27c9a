"""The file: opened, made when it is missing, set aside when it is broken."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

VERSION = 1
BUSY_TIMEOUT_S = 20.0
PAUSE_S = 0.02

SCHEMA = """
CREATE TABLE IF NOT EXISTS entry (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    goal TEXT NOT NULL,
    project TEXT NOT NULL,
    failure TEXT NOT NULL,
    pattern TEXT NOT NULL,
    note TEXT NOT NULL,
    success_count INTEGER NOT NULL DEFAULT 1,
    failure_count INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS entry_by_goal ON entry (goal);
CREATE VIRTUAL TABLE IF NOT EXISTS entry_text USING fts5 (
    goal, failure, pattern, note, content='entry', content_rowid='number',
    tokenize='unicode61'
);
CREATE TRIGGER IF NOT EXISTS entry_added AFTER INSERT ON entry BEGIN
    INSERT INTO entry_text (rowid, goal, failure, pattern, note)
    VALUES (new.number, new.goal, new.failure, new.pattern, new.note);
END;
CREATE TRIGGER IF NOT EXISTS entry_dropped AFTER DELETE ON entry BEGIN
    INSERT INTO entry_text (entry_text, rowid, goal, failure, pattern, note)
    VALUES ('delete', old.number, old.goal, old.failure, old.pattern, old.note);
END;
CREATE TRIGGER IF NOT EXISTS entry_changed AFTER UPDATE OF note, failure ON entry BEGIN
    INSERT INTO entry_text (entry_text, rowid, goal, failure, pattern, note)
    VALUES ('delete', old.number, old.goal, old.failure, old.pattern, old.note);
    INSERT INTO entry_text (rowid, goal, failure, pattern, note)
    VALUES (new.number, new.goal, new.failure, new.pattern, new.note);
END;
"""


class MemoryUnavailableError(Exception):
    """The file cannot be used now; it is left as it is. The message is one line for people."""


@dataclass
class MemoryDatabase:
    """One SQLite file, opened anew for each piece of work.

    Attributes:
        path: the file; folders above it are made.
        warnings: what a person should hear about, one line each; taken away by the caller.
    """

    path: Path
    busy_timeout_s: float = BUSY_TIMEOUT_S
    warnings: list[str] = field(default_factory=list[str])

    def read(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Look into the file; `otherwise` when there is none.

        Raises:
            MemoryUnavailableError: it cannot be read, or is of a newer version.
        """
        if not self.path.exists():
            return otherwise
        return self.change(work)

    def change(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do `work` in one transaction, alone among all runs; a broken file is set aside first.

        Raises:
            MemoryUnavailableError: it cannot be written, or is of a newer version.
        """
        try:
            try:
                return self._work(work)
            except sqlite3.DatabaseError as error:
                if not is_broken(error):
                    raise
            self._set_aside()
            return self._work(work)
        except (sqlite3.Error, OSError) as error:
            raise MemoryUnavailableError(f"{self.path}: {error}") from error

    def _work(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with closing(self._open()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
            except BaseException:
                connection.rollback()
                raise
            connection.commit()
            return result

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # What runs of all projects did is nobody else's business.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(self.path, timeout=self.busy_timeout_s, isolation_level=None)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise MemoryUnavailableError(
                f"{self.path} is of version {version}, newer than {VERSION}: it is left alone"
            )
        if version == VERSION:
            return
        self._use_wal(connection)
        # `executescript` would commit first; a second run may have made the tables meanwhile.
        connection.executescript(f"BEGIN IMMEDIATE;{SCHEMA}PRAGMA user_version={VERSION};COMMIT;")

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        """Readers then never wait for a writer. SQLite does not wait by itself for this change."""
        deadline = time.monotonic() + self.busy_timeout_s
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(PAUSE_S)

    def _set_aside(self) -> None:
        """Rename a broken file, once, however many runs find it broken at the same time."""
        with self._alone():
            try:
                self._work(lambda connection: connection.execute("PRAGMA schema_version"))
                return  # another run has done it
            except sqlite3.DatabaseError as error:
                if not is_broken(error):
                    raise
                problem = str(error)
            # First what belongs to it: once the name is free, another run has files of that name.
            for suffix in ("-wal", "-shm"):
                with suppress(FileNotFoundError):
                    self.path.with_name(self.path.name + suffix).unlink()
            aside = free_name(self.path)
            self.path.rename(aside)
            self.warnings.append(f"{self.path} is not usable ({problem}): kept as {aside.name}")

    @contextmanager
    def _alone(self) -> Generator[None]:
        """Hold the lock on the folder, which dies with its process and leaves no file behind."""
        handle = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        deadline = time.monotonic() + self.busy_timeout_s
        try:
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(PAUSE_S)
            yield
        finally:
            os.close(handle)


def is_broken(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is at fault, and not a lock, the disk or its permissions."""
    name = getattr(error, "sqlite_errorname", "")
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


def free_name(path: Path) -> Path:
    """A name beside `path` for a file that is set aside, which overwrites no earlier one."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    found = path.with_name(f"{path.name}.corrupt-{stamp}")
    number = 1
    while found.exists():
        number += 1
        found = path.with_name(f"{path.name}.corrupt-{stamp}-{number}")
    return found
