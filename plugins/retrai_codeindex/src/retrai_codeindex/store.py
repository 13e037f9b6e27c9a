"""The index file of a project: one SQLite file in the user's cache folder.

Several processes may read it while one writes (WAL). All changes of one update are one transaction,
so a process that is killed leaves the state before. A damaged file is renamed and made anew.
"""

from __future__ import annotations

import fcntl
import os
import re
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import platformdirs

from retrai_core import RetraiError

VERSION = 5
BUSY_TIMEOUT_S = 5.0
MAX_WAIT_S = 900.0
"""How long to wait for another process that makes the same index."""

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE file (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    digest BLOB NOT NULL,
    language TEXT NOT NULL,
    parsed TEXT NOT NULL,
    skipped TEXT NOT NULL,
    line_count INTEGER NOT NULL,
    facts BLOB,
    terms BLOB
);
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    file INTEGER NOT NULL,
    kind TEXT NOT NULL,
    symbol TEXT NOT NULL,
    name TEXT NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    signature TEXT NOT NULL,
    doc TEXT NOT NULL
);
CREATE INDEX chunk_by_file ON chunk (file);
CREATE INDEX chunk_by_name ON chunk (name) WHERE name != '';
CREATE TABLE term (token TEXT PRIMARY KEY, chunks BLOB NOT NULL, weights BLOB NOT NULL);
CREATE TABLE delta (
    token TEXT NOT NULL,
    file INTEGER NOT NULL,
    chunks BLOB NOT NULL,
    weights BLOB NOT NULL,
    removed INTEGER NOT NULL,
    PRIMARY KEY (token, file)
) WITHOUT ROWID;
CREATE INDEX delta_by_file ON delta (file);
CREATE TABLE vector (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE chunk_vector (
    chunk INTEGER NOT NULL,
    model TEXT NOT NULL,
    key BLOB NOT NULL,
    PRIMARY KEY (chunk, model)
) WITHOUT ROWID;
CREATE TABLE dead (chunk INTEGER PRIMARY KEY);
CREATE TABLE node (
    id INTEGER PRIMARY KEY,
    dotted TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    file INTEGER,
    symbol TEXT NOT NULL
);
CREATE INDEX node_by_name ON node (name);
CREATE TABLE base (class INTEGER NOT NULL, position INTEGER NOT NULL, base INTEGER NOT NULL);
CREATE INDEX base_by_class ON base (class);
CREATE INDEX base_by_base ON base (base);
CREATE TABLE call (
    caller INTEGER NOT NULL,
    callee INTEGER,
    name TEXT NOT NULL,
    line INTEGER NOT NULL
);
CREATE INDEX call_by_caller ON call (caller);
CREATE INDEX call_by_callee ON call (callee) WHERE callee IS NOT NULL;
CREATE INDEX call_by_name ON call (name) WHERE callee IS NULL;
"""


class IndexUnavailableError(RetraiError):
    """The index file cannot be read or written."""


def cache_dir() -> Path:
    """The user's cache folder for retrai; `RETRAI_CACHE_DIR` names another."""
    return Path(os.environ.get("RETRAI_CACHE_DIR") or platformdirs.user_cache_dir("retrai"))


def index_path(project: Path) -> Path:
    """The index file of a project; two paths of one folder are one project."""
    real = os.path.realpath(project)
    digest = sha256(os.fsencode(real)).hexdigest()[:16]
    slug = re.sub(r"[^A-Za-z0-9_.-]+", "-", os.path.basename(real))[:40] or "project"
    return cache_dir() / "codeindex" / f"{slug}-{digest}.sqlite"


class IndexFile:
    """An open index file.

    Args:
        path: the file; folders above it are made.

    Attributes:
        warnings: what a person should hear about, one line each.

    Raises:
        IndexUnavailableError: the cache folder cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warnings: list[str] = []
        self._connection: sqlite3.Connection | None = None

    @property
    def db(self) -> sqlite3.Connection:
        """The connection; opened when it is first used."""
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # What a project holds is nobody else's business.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError as error:
            raise unavailable(self.path, error) from error
        try:
            return self._connect()
        except sqlite3.DatabaseError as error:
            if not is_damaged(error):
                raise unavailable(self.path, error) from error
        self.set_aside()
        try:
            return self._connect()
        except sqlite3.Error as error:
            raise unavailable(self.path, error) from error

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA cache_size=-32000")
            connection.execute("PRAGMA mmap_size=268435456")
            connection.execute("PRAGMA temp_store=MEMORY")
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if _version(connection) == VERSION:
            return
        with self._alone():
            version = _version(connection)
            if version == VERSION:
                return
            _execute_when_free(connection, "PRAGMA journal_mode=WAL")
            _execute_when_free(connection, "BEGIN IMMEDIATE")
            try:
                if version:
                    self.warnings.append(f"{self.path} is of another version: it is made anew")
                    _drop_tables(connection)
                for statement in SCHEMA.split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version={VERSION}")
                connection.execute("COMMIT")
            except BaseException:
                connection.rollback()
                raise

    def set_aside(self) -> None:
        """Rename a damaged file, once, however many processes find it damaged."""
        self.close()
        with self._alone():
            problem = self._problem()
            if problem is None:
                return  # another process has done it
            # First what belongs to it: once the name is free, a new file may have files so named.
            for suffix in ("-wal", "-shm"):
                with suppress(FileNotFoundError):
                    self.path.with_name(self.path.name + suffix).unlink()
            stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
            aside = self.path.with_name(f"{self.path.name}.damaged-{stamp}")
            try:
                self.path.rename(aside)
            except OSError as error:
                raise unavailable(self.path, error) from error
            self.warnings.append(
                f"the index {self.path} is damaged ({problem}): kept as {aside.name}, made anew"
            )

    def _problem(self) -> str | None:
        try:
            connection = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_S)
            try:
                (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            finally:
                connection.close()
        except sqlite3.DatabaseError as error:
            return str(error) if is_damaged(error) else None
        return None if found == "ok" else str(found)

    def checkpoint(self) -> None:
        """Move what was written from the log into the file; readers and writers go on."""
        self.db.execute("PRAGMA wal_checkpoint(PASSIVE)")

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """One transaction, alone among all processes.

        Raises:
            IndexUnavailableError: another process writes for too long, or the disk is full.
        """
        connection = self.db
        try:
            _execute_when_free(connection, "BEGIN IMMEDIATE")
        except sqlite3.DatabaseError as error:
            if is_damaged(error):
                raise
            raise unavailable(self.path, error) from error
        try:
            yield connection
            connection.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            _roll_back(connection)
            if is_damaged(error):
                raise
            raise unavailable(self.path, error) from error
        except BaseException:
            _roll_back(connection)
            raise

    @contextmanager
    def _alone(self) -> Generator[None]:
        """Hold the lock on the folder, which dies with its process and leaves no file behind."""
        handle = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        deadline = time.monotonic() + MAX_WAIT_S
        try:
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.02)
            yield
        finally:
            os.close(handle)


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return version


def _drop_tables(connection: sqlite3.Connection) -> None:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (name,) in rows:
        if not name.startswith("sqlite_"):
            quoted = name.replace('"', '""')
            connection.execute(f'DROP TABLE "{quoted}"')


def _execute_when_free(connection: sqlite3.Connection, statement: str) -> None:
    """Execute a statement that needs the file alone; another process may have it for minutes."""
    deadline = time.monotonic() + MAX_WAIT_S
    while True:
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError as error:
            name = getattr(error, "sqlite_errorname", "")
            if not name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                raise
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _roll_back(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):  # a full disk may have rolled back already
        connection.rollback()


def is_damaged(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is at fault, and not a lock, the disk or its permissions."""
    name = getattr(error, "sqlite_errorname", "")
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


def unavailable(path: Path, error: Exception) -> IndexUnavailableError:
    """The error that says what the system said."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return IndexUnavailableError(
        f"the index {path} cannot be used: {reason}",
        hint="`export RETRAI_CACHE_DIR=FOLDER` takes another folder, one that can be written to",
    )
