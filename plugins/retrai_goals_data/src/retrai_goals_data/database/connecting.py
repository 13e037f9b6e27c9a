"""Opens a database so that it can only be read, unless more is asked for."""

from __future__ import annotations

import math
import os
import re
import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .jobs import Dialect, Target

if TYPE_CHECKING:
    # Half of the time that a small check takes; SQLite's driver needs nothing of it.
    from sqlalchemy import URL, Engine

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
        engine: SQLAlchemy's, for what it knows of tables; None for SQLite.
        raw: the driver's connection, but for SQLite through SQLAlchemy's pool.
        timeout_s: for each statement.
    """

    dialect: Dialect
    engine: Engine | None
    raw: Any
    timeout_s: float

    @property
    def driver(self) -> Any:
        """The driver's own connection."""
        return self.raw if self.engine is None else self.raw.driver_connection

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
            connection = self.driver
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
    secrets: list[str] = []
    database = None
    try:
        if target.dialect == "sqlite":
            database = Database("sqlite", None, _open_file(target.path, write), timeout_s)
        else:
            from sqlalchemy import create_engine, make_url

            file = f"duckdb:///{target.path or ':memory:'}"
            url = make_url(file if target.dialect == "duckdb" else target.url)
            secrets = _secrets(url)
            engine = create_engine(url, connect_args=_arguments(target, write))
            database = Database(target.dialect, engine, engine.raw_connection(), timeout_s)
        _prepare(database, target, write, autocommit)
    except Exception as error:
        _close(database, autocommit)
        said = _without(secrets, f"{type(error).__name__}: {error}")
        raise UnreachableError(said) from error
    try:
        yield database
    finally:
        _close(database, autocommit)


def _close(database: Database | None, autocommit: bool) -> None:
    if database is None:
        return
    with suppress(Exception):
        if not autocommit:
            database.raw.rollback()
    database.raw.close()
    if database.engine is not None:
        database.engine.dispose()


def _open_file(path: str, write: bool) -> sqlite3.Connection:
    from urllib.parse import quote

    mode = "rw" if write or _opens_for_writing(path) else "ro"
    connection = sqlite3.connect(
        f"file:{quote(path)}?mode={mode}",
        uri=True,
        timeout=CONNECT_TIMEOUT_S,
        # Another thread interrupts it when its time is over.
        check_same_thread=False,
    )
    # As SQLAlchemy has them, with which most who ask SQLite from Python do it.
    connection.create_function("regexp", 2, _found, deterministic=True)
    connection.create_function("floor", 1, math.floor, deterministic=True)
    return connection


def _found(pattern: str, text: str | None) -> bool | None:
    return None if text is None else re.search(pattern, text) is not None


def _arguments(target: Target, write: bool) -> dict[str, Any]:
    if target.dialect == "duckdb":
        config = {} if target.files else {"enable_external_access": "false"}
        # A database in memory is empty, and cannot be opened for reading only.
        return {"read_only": bool(target.path) and not write, "config": config}
    return {"connect_timeout": CONNECT_TIMEOUT_S, "application_name": "retrai"}


def _prepare(database: Database, target: Target, write: bool, autocommit: bool) -> None:
    cursor = database.cursor()
    connection = database.driver
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

    def decide(action: int, one: str | None, two: str | None, name: str | None, by: object) -> int:
        if action == sqlite3.SQLITE_PRAGMA and one == "writable_schema":
            return sqlite3.SQLITE_DENY
        # A virtual table (`json_each`, a full-text index) declares its columns so when it is read.
        declares = action == sqlite3.SQLITE_UPDATE and one == "sqlite_master"
        is_allowed = action in reading or declares or name == "temp"
        return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY

    connection.set_authorizer(decide)


def _secrets(url: URL) -> list[str]:
    """What of an address no message may show."""
    return [str(one) for one in (url.password, url.render_as_string(hide_password=False)) if one]


def _without(secrets: list[str], text: str) -> str:
    line = " ".join(text.split())
    for secret in secrets:
        line = line.replace(secret, "***")
    return line[:600]
