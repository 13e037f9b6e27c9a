"""Makes the call graph: resolves the calls of all files from their facts, and stores them.

It is made when it is asked for and something has changed since: the facts of unchanged files are
read from the index, so no file is parsed again. The calls are replaced as a whole, in the same
transaction: none of an unchanged file is lost, and none points to what is gone.
"""

from __future__ import annotations

import gc
import json
import sqlite3
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .by_name import families
from .indexer import set_meta
from .module_names import module_names
from .python_calls import Found, PythonCalls
from .store import IndexFile


def link(index: IndexFile) -> None:
    """Make the call graph, unless it is up to date."""
    if _is_current(index.db):
        return
    with index.writing() as db:
        if _is_current(db):  # another process has done it
            return
        _Linker(db).run()
        set_meta(db, "graph", "current")
    index.checkpoint()


def _is_current(db: sqlite3.Connection) -> bool:
    row = db.execute("SELECT value FROM meta WHERE key = 'graph'").fetchone()
    return row is None or row[0] == "current"


@contextmanager
def _without_collector() -> Generator[None]:
    """Resolving makes millions of objects and no garbage: looking for some doubles its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Linker:
    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.numbers: dict[str, int] = {}
        self.names = self._module_names()

    def _module_names(self) -> dict[str, str]:
        rows = self.db.execute("SELECT path, language FROM file WHERE skipped = ''").fetchall()
        self.python = module_names(path for path, language in rows if language == "python")
        names = {path: name for path, (name, _) in self.python.items()}
        for path, _ in rows:
            names.setdefault(path, path)
        return names

    def run(self) -> None:
        self.db.execute("DELETE FROM call")
        self.db.execute("DELETE FROM node")
        self.db.execute("DELETE FROM base")
        self._definitions()
        with _without_collector():
            python = PythonCalls(self._modules())
            self._store(python.solve())
            self._inheritance(python.inheritance())
        for family in families(self._other_files()):
            self._store(family.calls())
            self._inheritance(family.inheritance())

    def _other_files(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        rows = self.db.execute(
            "SELECT path, language, facts FROM file"
            " WHERE language NOT IN ('python', 'text') AND facts IS NOT NULL"
        )
        for path, language, packed in rows:
            yield path, language, json.loads(zlib.decompress(packed))

    def _definitions(self) -> None:
        rows = self.db.execute(
            "SELECT c.file, f.path, c.symbol, c.name FROM chunk c JOIN file f ON f.id = c.file"
            " WHERE c.symbol != '' ORDER BY f.path, c.start_line"
        ).fetchall()
        modules = self.db.execute(
            "SELECT id, path, '', '' FROM file WHERE skipped = '' AND language != 'text'"
            " ORDER BY path"
        ).fetchall()
        for file, path, symbol, name in [*modules, *rows]:
            dotted = f"{self.names[path]}.{symbol}" if symbol else self.names[path]
            if dotted not in self.numbers:
                short = name or self.names[path].rpartition(".")[2]
                self._node(dotted, short, file, symbol)

    def _node(self, dotted: str, name: str, file: int | None, symbol: str) -> int:
        number = self.numbers[dotted] = len(self.numbers) + 1
        self.db.execute(
            "INSERT INTO node (id, dotted, name, file, symbol) VALUES (?, ?, ?, ?, ?)",
            (number, dotted, name, file, symbol),
        )
        return number

    def _modules(self) -> Iterator[tuple[str, str, tuple[str, ...], list[list[Any]]]]:
        rows = self.db.execute(
            "SELECT path, facts FROM file WHERE language = 'python' AND facts IS NOT NULL"
            " ORDER BY path"
        )
        for path, packed in rows:
            name, others = self.python[path]
            yield path, name, others, json.loads(zlib.decompress(packed))

    def _store(self, calls: Iterable[Found]) -> None:
        numbers = self.numbers
        for call in calls:
            caller = numbers.get(call.caller)
            if caller is None:
                caller = self._inner(call.caller)
            callee = None
            if call.callee is not None:
                callee = numbers.get(call.callee)
                if callee is None:
                    callee = self._inner(call.callee)
            self.db.execute(
                "INSERT INTO call (caller, callee, name, line) VALUES (?, ?, ?, ?)",
                (caller, callee, call.name, call.line),
            )

    def _inheritance(self, classes: Iterable[tuple[str, list[str]]]) -> None:
        numbers = self.numbers
        for name, order in classes:
            known = [numbers.get(base) or self._inner(base) for base in order]
            self.db.executemany(
                "INSERT INTO base (class, position, base) VALUES (?, ?, ?)",
                ((numbers[name], position, base) for position, base in enumerate(known)),
            )

    def _inner(self, dotted: str) -> int:
        """The node of what has no chunk: a lambda, or what is not of the project."""
        short = dotted.rpartition(".")[2]
        file, symbol = None, ""
        if short.startswith("<lambda"):
            outer = self.numbers.get(dotted.rpartition(".")[0])
            if outer is not None:
                query = "SELECT file, symbol FROM node WHERE id = ?"
                file, symbol = self.db.execute(query, (outer,)).fetchone()
        return self._node(dotted, short, file, symbol)
