"""Opens a database so that it can only be read, unless more is asked for."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, create_engine
from sqlalchemy.engine import URL, make_url

from .jobs import Dialect, Target

CONNECT_TIMEOUT_S = 10
LOOK_TIMEOUT_S = 300.0
"""At least so long may it take to look at all rows of a table."""


class UnreachableError(Exception):
    """The database cannot be opened; the message says why, without the password."""


@dataclass
class Database:
    """An open connection.

    Attributes:
        dialect: of the database.
        engine: SQLAlchemy's, for what it knows of tables.
        raw: the driver's connection, through SQLAlchemy's pool.
        timeout_s: for each statement.
    """

    dialect: Dialect
    engine: Engine
    raw: Any
    timeout_s: float

    def cursor(self) -> Any:
        return self.raw.cursor()

    def rollback(self) -> None:
        """Undo what was done, and begin anew: without a transaction, writes would stay."""
        self.raw.rollback()
        self.begin()

    def begin(self) -> None:
        """Begin a transaction; the driver for PostgreSQL does so by itself."""
        if self.dialect != "postgresql":
            self.raw.cursor().execute("BEGIN TRANSACTION")

    @contextmanager
    def time_limit(self, at_least_s: float = 0.0) -> Generator[None]:
        """Interrupt what runs in the block when its time is over.

        Args:
            at_least_s: the time where `timeout_s` is less.

        Raises:
            TimeoutError: it was interrupted.
        """
        passed = threading.Event()
        limit_s = max(self.timeout_s, at_least_s)

        def interrupt() -> None:
            passed.set()
            connection = self.raw.driver_connection
            for name in ("cancel_safe", "cancel", "interrupt"):
                if hasattr(connection, name):
                    getattr(connection, name)()
                    return

        timer = threading.Timer(limit_s, interrupt)
        timer.daemon = True
        timer.start()
        try:
            yield
        except Exception as error:
            if passed.is_set():
                raise TimeoutError(f"it took longer than {limit_s:g} s") from error
            raise
        finally:
            timer.cancel()


@contextmanager
def opened(
    target: Target, *, timeout_s: float, write: bool = False, autocommit: bool = False
) -> Generator[Database]:
    """Connect, and disconnect at the end; what was not committed is rolled back.

    Args:
        target: which database.
        timeout_s: for each statement.
        write: it may be changed.
        autocommit: each statement stands by itself (some cannot run in a transaction).

    Raises:
        UnreachableError: it cannot be opened.
    """
    if target.path and not os.path.isfile(target.path):
        raise UnreachableError(f"there is no database file {target.path}")
    url = make_url(target.url)
    try:
        engine = create_engine(_url(url, target, write), connect_args=_arguments(target, write))
        raw: Any = engine.raw_connection()
    except Exception as error:
        raise UnreachableError(_without_secret(f"{type(error).__name__}: {error}", url)) from error
    database = Database(target.dialect, engine, raw, timeout_s)
    try:
        try:
            _prepare(database, target, write, autocommit)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            raise UnreachableError(_without_secret(text, url)) from error
        yield database
    finally:
        with suppress(Exception):
            if not autocommit:
                raw.rollback()
        raw.close()
        engine.dispose()


def _url(url: URL, target: Target, write: bool) -> URL:
    if target.dialect == "sqlite":
        mode = "rw" if write or _opens_for_writing(target.path) else "ro"
        name = "file:" + _quoted(target.path)
        return URL.create("sqlite", database=name, query={"mode": mode, "uri": "true"})
    return url


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(path)


def _arguments(target: Target, write: bool) -> dict[str, Any]:
    if target.dialect == "sqlite":
        return {"timeout": CONNECT_TIMEOUT_S}
    if target.dialect == "duckdb":
        config = {} if target.files else {"enable_external_access": "false"}
        # A database in memory is empty, and cannot be opened for reading only.
        return {"read_only": bool(target.path) and not write, "config": config}
    return {"connect_timeout": CONNECT_TIMEOUT_S, "application_name": "retrai"}


def _prepare(database: Database, target: Target, write: bool, autocommit: bool) -> None:
    cursor = database.cursor()
    connection = database.raw.driver_connection
    if target.dialect == "postgresql":
        connection.autocommit = True
        # Were this process killed, the server would go on by itself.
        milliseconds = int((database.timeout_s + LOOK_TIMEOUT_S) * 1000)
        cursor.execute(f"SET statement_timeout = {milliseconds}")
        if not write:
            cursor.execute("SET default_transaction_read_only = on")
        connection.autocommit = autocommit
    elif target.dialect == "sqlite":
        assert isinstance(connection, sqlite3.Connection)
        # No transaction is begun behind our back, so CREATE INDEX and VACUUM work too.
        connection.isolation_level = None
        cursor.execute("SELECT count(*) FROM sqlite_master")
        cursor.fetchall()
        if not write:
            _forbid_changes(connection)
    cursor.close()
    if not autocommit:
        database.begin()


def _opens_for_writing(path: str) -> bool:
    """Whether SQLite must open the file so, to leave no files beside it.

    In WAL mode even reading makes two files, which only a connection that may write removes.
    """
    with open(path, "rb") as file:
        header = file.read(20)
    return header[18:20] == b"\2\2" and not os.path.exists(path + "-wal")


def _forbid_changes(connection: sqlite3.Connection) -> None:
    """Refuse every change but of temporary tables, however the file was opened."""
    reading = {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
        sqlite3.SQLITE_TRANSACTION,
        sqlite3.SQLITE_SAVEPOINT,
        sqlite3.SQLITE_PRAGMA,
    }

    def decide(action: int, one: object, two: object, name: str | None, by: object) -> int:
        if action in reading or name == "temp":
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    connection.set_authorizer(decide)


def _without_secret(text: str, url: URL) -> str:
    line = " ".join(text.split())
    for secret in (url.password, url.render_as_string(hide_password=False)):
        if secret and str(secret) in line:
            line = line.replace(str(secret), "***")
    return line[:600]
