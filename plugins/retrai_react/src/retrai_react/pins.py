"""Pinned items: text snippets and ranges of files that a client keeps with a project."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

MAX_PINS = 200
"""For one project."""
_BUSY_S = 10.0
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS pins (project TEXT, id TEXT, item TEXT, PRIMARY KEY (project, id))"
)


class TooManyPinsError(Exception):
    """A project has no room for another one."""


class PinStore:
    """The pins of all projects, in one SQLite file that several servers may share.

    Its methods wait for the disk: call them in a thread.

    Args:
        file: the database; made when it is first written.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def list(self, project: uuid.UUID) -> list[dict[str, Any]]:
        """The pins of a project, the oldest first."""
        if not self._file.exists():
            return []
        query = "SELECT item FROM pins WHERE project = ? ORDER BY rowid"
        with self._connected() as database:
            return [json.loads(item) for (item,) in database.execute(query, (str(project),))]

    def add(self, project: uuid.UUID, item: dict[str, Any]) -> dict[str, Any]:
        """Keep an item; it gets an `id`.

        Raises:
            TooManyPinsError: the project has no room.
        """
        item = {"id": str(uuid.uuid4()), **item}
        count = "SELECT count(*) FROM pins WHERE project = ?"
        with self._connected() as database, database:
            database.execute("BEGIN IMMEDIATE")
            if database.execute(count, (str(project),)).fetchone()[0] >= MAX_PINS:
                raise TooManyPinsError
            row = (str(project), item["id"], json.dumps(item))
            database.execute("INSERT INTO pins VALUES (?, ?, ?)", row)
        return item

    def remove(self, project: uuid.UUID, pins: Sequence[str] | None = None) -> int:
        """Remove some pins of a project, or all; how many there were."""
        if not self._file.exists():
            return 0
        with self._connected() as database, database:
            if pins is None:
                done = database.execute("DELETE FROM pins WHERE project = ?", (str(project),))
                return done.rowcount
            rows = [(str(project), pin) for pin in pins]
            done = database.executemany("DELETE FROM pins WHERE project = ? AND id = ?", rows)
            return done.rowcount

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self._file.exists():
            self._file.touch(0o600)
        with closing(sqlite3.connect(self._file, timeout=_BUSY_S)) as database:
            database.execute(_SCHEMA)
            yield database
