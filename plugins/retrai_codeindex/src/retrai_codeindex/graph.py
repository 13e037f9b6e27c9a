"""Questions to the call graph: who is called by what, definitions of a name, chains of calls."""

from __future__ import annotations

import difflib
import sqlite3
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from .linking import link
from .store import IndexFile

MAX_SIMILAR = 8
MAX_PATH_NODES = 100_000


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition; or, without a path, what is called and is not of the project.

    Attributes:
        name: the dotted name in the project: `shop.cart.Cart.total`.
        path: the file, relative to the project; empty for what is not of the project.
        symbol: the dotted name within the file; empty for the module itself.
        kind: `function`, `method`, `class`, `module`, ...; `external` outside the project.
        start_line: first line, counted from 1; 0 outside the project.
        end_line: last line.
        signature: the head in one line.
        doc: docstring or comment.
    """

    name: str
    path: str
    symbol: str
    kind: str
    start_line: int
    end_line: int
    signature: str = ""
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """The calls of one definition in another.

    Attributes:
        caller: where the calls stand.
        callee: what is called. If it is not resolved, only its `name` says something.
        lines: of the calls, in the caller's file.
        resolved: False if only the name that is called agrees.
    """

    caller: Definition
    callee: Definition
    lines: tuple[int, ...]
    resolved: bool = True


class Graph:
    """The call graph of an index."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self._known: dict[int, Definition] = {}

    def definition(self, number: int) -> Definition:
        """The definition of a node."""
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = self._read(number)
        return known

    def _read(self, number: int) -> Definition:
        row = self.db.execute(
            "SELECT n.dotted, f.path, n.symbol, c.kind, c.start_line, c.end_line, c.signature,"
            " c.doc, f.line_count FROM node n LEFT JOIN file f ON f.id = n.file"
            " LEFT JOIN chunk c ON c.file = n.file AND c.symbol = n.symbol AND c.kind != 'text'"
            " WHERE n.id = ? ORDER BY c.start_line LIMIT 1",
            (number,),
        ).fetchone()
        dotted, path, symbol, kind, start, end, signature, doc, lines = row
        if path is None:
            return Definition(dotted, "", "", "external", 0, 0)
        if kind is None:
            return Definition(dotted, path, symbol, "module", 1, max(1, lines))
        return Definition(dotted, path, symbol, kind, start, end, signature, doc)

    def find(self, name: str) -> list[int]:
        """The nodes of the project that a name means, by path and line."""
        name = name.strip()
        path, colon, symbol = name.rpartition(":")
        if colon and not path.endswith(":"):
            return self._in_file(path, symbol)
        name = name.replace("::", ".").removesuffix("()")
        rows = self.db.execute(
            "SELECT n.id, n.dotted, n.symbol FROM node n LEFT JOIN file f ON f.id = n.file"
            " WHERE n.name = ? AND n.file IS NOT NULL ORDER BY f.path, n.id",
            (name.rpartition(".")[2],),
        ).fetchall()
        if "." not in name:  # `search` is a function rather than the module search.py
            chosen = [number for number, _, symbol in rows if symbol]
            return chosen or [number for number, _, _ in rows]
        exact = [number for number, dotted, _ in rows if dotted == name]
        exact = exact or [n for n, dotted, _ in rows if f".{dotted}".endswith(f".{name}")]
        return exact or self._inherited(name) or self._in_file(name, "")

    def _in_file(self, path: str, symbol: str) -> list[int]:
        """What a file defines, or the file itself; the end of its path is enough."""
        rows = self.db.execute(
            "SELECT n.id, f.path FROM node n JOIN file f ON f.id = n.file WHERE n.symbol = ?"
            " AND substr('/' || f.path, -length(?)) = ? ORDER BY f.path",
            (symbol, f"/{path}", f"/{path}"),
        ).fetchall()
        return [n for n, found in rows if found == path] or [n for n, _ in rows]

    def _inherited(self, name: str) -> list[int]:
        """The method of a base class that `Class.method` means."""
        owner, _, method = name.rpartition(".")
        found: list[int] = []
        for number in self.find(owner):
            row = self.db.execute(
                "SELECT m.id FROM base JOIN node b ON b.id = base.base"
                " JOIN node m ON m.dotted = b.dotted || '.' || ?"
                " WHERE base.class = ? ORDER BY base.position LIMIT 1",
                (method, number),
            ).fetchone()
            if row is not None and row[0] not in found:
                found.append(row[0])
        return found

    def similar(self, name: str) -> list[int]:
        """The nodes with the most similar names."""
        short = name.strip().rpartition(".")[2].lower()
        rows = self.db.execute(
            "SELECT DISTINCT name FROM node WHERE file IS NOT NULL AND symbol != ''"
        )
        by_lower: dict[str, list[str]] = {}
        for (each,) in rows:
            by_lower.setdefault(each.lower(), []).append(each)
        if len(short) > 200:
            return []
        inside = sorted(each for each in by_lower if len(short) > 2 and short in each)
        close = difflib.get_close_matches(short, by_lower, n=MAX_SIMILAR, cutoff=0.7)
        names = [each for lower in dict.fromkeys([*close, *inside]) for each in by_lower[lower]]
        found: list[int] = []
        for each in names[:MAX_SIMILAR]:
            found += self.find(each)
        return found[:MAX_SIMILAR]

    def others(self, name: str) -> list[int]:
        """The classes of that name that are not of the project, and that the project inherits."""
        rows = self.db.execute(
            "SELECT DISTINCT n.id FROM node n JOIN base ON base.base = n.id"
            " WHERE n.name = ? AND n.file IS NULL AND '.' || n.dotted LIKE '%.' || ?",
            (name.rpartition(".")[2], name),
        )
        return [number for (number,) in rows]

    def subclasses(self, numbers: Iterable[int]) -> list[Definition]:
        """What inherits from some classes, directly or not, by path and line."""
        waiting = list(numbers)
        found: set[int] = set(waiting)
        while waiting:
            rows = self.db.execute("SELECT class FROM base WHERE base = ?", (waiting.pop(),))
            more = {number for (number,) in rows} - found
            found |= more
            waiting += more
        definitions = [self.definition(number) for number in found.difference(numbers)]
        return sorted(definitions, key=lambda each: (each.path, each.start_line))

    def callers(self, numbers: Iterable[int]) -> list[Call]:
        """The calls of some nodes; then the unresolved calls of their names."""
        chosen = list(dict.fromkeys(numbers))
        rows: list[tuple[int, int, int]] = []
        for number in self._with_initializers(chosen):
            query = "SELECT caller, callee, line FROM call WHERE callee = ?"
            rows += self.db.execute(query, (number,)).fetchall()
        found = self._calls(rows)
        for name in sorted({self.definition(n).name.rpartition(".")[2] for n in chosen}):
            found += self._unresolved("name = ?", name)
        return found

    def callees(self, numbers: Iterable[int]) -> list[Call]:
        """The calls in some nodes; unresolved ones last."""
        found: list[Call] = []
        left: list[Call] = []
        for number in dict.fromkeys(numbers):
            query = "SELECT caller, callee, line FROM call WHERE caller = ? AND callee IS NOT NULL"
            found += self._calls(self.db.execute(query, (number,)).fetchall())
            left += self._unresolved("caller = ?", number)
        return found + left

    def _with_initializers(self, numbers: list[int]) -> list[int]:
        """Who calls a class calls its `__init__`."""
        found = list(numbers)
        for number in numbers:
            if self.definition(number).kind == "class":
                name = f"{self.definition(number).name}.__init__"
                rows = self.db.execute("SELECT id FROM node WHERE dotted = ?", (name,))
                found += [each for (each,) in rows if each not in found]
        return found

    def _calls(self, rows: Iterable[tuple[int, int, int]]) -> list[Call]:
        lines: dict[tuple[int, int], set[int]] = {}
        for caller, callee, line in rows:
            lines.setdefault((caller, callee), set()).add(line)
        calls = [
            Call(self.definition(caller), self.definition(callee), tuple(sorted(found)))
            for (caller, callee), found in lines.items()
        ]
        return sorted(calls, key=_by_place)

    def _unresolved(self, condition: str, value: object) -> list[Call]:
        rows = self.db.execute(
            f"SELECT caller, name, line FROM call WHERE callee IS NULL AND {condition}", (value,)
        )
        lines: dict[tuple[int, str], set[int]] = {}
        for caller, name, line in rows:
            lines.setdefault((caller, name), set()).add(line)
        calls = [
            Call(
                self.definition(caller),
                Definition(name, "", "", "unresolved", 0, 0),
                tuple(sorted(found)),
                resolved=False,
            )
            for (caller, name), found in lines.items()
        ]
        return sorted(calls, key=_by_place)

    def neighbours(self, number: int, *, up: bool = False) -> list[int]:
        """The nodes that a node calls; with `up`, those that call it."""
        query = (
            "SELECT DISTINCT caller FROM call WHERE callee = ? ORDER BY caller"
            if up
            else "SELECT DISTINCT callee FROM call WHERE caller = ? AND callee IS NOT NULL"
            " ORDER BY callee"
        )
        return [each for (each,) in self.db.execute(query, (number,))]

    def path(self, sources: list[int], targets: list[int]) -> list[int]:
        """A shortest chain of calls; empty if there is none."""
        wanted = set(targets)
        before: dict[int, int | None] = dict.fromkeys(sources)
        waiting = deque(sources)
        while waiting and len(before) < MAX_PATH_NODES:
            number = waiting.popleft()
            if number in wanted:
                chain: list[int] = []
                at: int | None = number
                while at is not None:
                    chain.append(at)
                    at = before[at]
                return chain[::-1]
            for each in self.neighbours(number):
                if each not in before:
                    before[each] = number
                    waiting.append(each)
        return []

    def edges(self) -> dict[str, list[str]]:
        """Every caller with its callees, dotted names; a definition that calls nothing too."""
        found: dict[str, list[str]] = {}
        classes: set[int] = set()
        rows = self.db.execute(
            "SELECT n.id, n.dotted, (SELECT c.kind FROM chunk c WHERE c.file = n.file"
            " AND c.symbol = n.symbol AND c.kind != 'text' LIMIT 1) FROM node n"
            " WHERE n.file IS NOT NULL OR n.id IN (SELECT callee FROM call) ORDER BY n.dotted"
        )
        for number, dotted, kind in rows:
            if kind == "class":
                classes.add(number)
            else:
                found[dotted] = []
        rows = self.db.execute(
            "SELECT DISTINCT a.dotted, b.dotted, b.id FROM call JOIN node a ON a.id = caller"
            " JOIN node b ON b.id = callee ORDER BY a.dotted, b.dotted"
        )
        for caller, callee, number in rows:
            if number not in classes:
                found.setdefault(caller, []).append(callee)
        return found

    def counts(self) -> tuple[int, int]:
        """All calls, and those with a known target."""
        row = self.db.execute("SELECT count(*), count(callee) FROM call").fetchone()
        return row[0], row[1]


def read_graph(index: IndexFile) -> Graph:
    """The graph of an index; made first if something has changed since."""
    link(index)
    return Graph(index.db)


def _by_place(call: Call) -> tuple[str, int, str, str]:
    return (call.caller.path, call.caller.start_line, call.caller.name, call.callee.name)
