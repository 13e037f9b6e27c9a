"""What the tables hold, and how it is looked up and ranked."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .wording import Lesson, words_of

_COLUMNS = "number, id, goal, project, failure, pattern, note, success_count, failure_count"

_TOLD = "(success_count + failure_count < 2 OR success_count > failure_count)"
"""From two outcomes on, a strategy must have worked more often than not."""

BY_TRUST = 0.5
BY_LIKENESS = 0.3
BY_PROJECT = 0.2
"""How a rank comes about: how often it worked, how alike the failure is, and whether it was here.
They add up to 1, so that a rank is between 0 and 1 as its parts are."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One strategy, as a row of the table `entry`."""

    number: int
    id: str
    goal: str
    project: str
    failure: str
    pattern: str
    note: str
    success_count: int
    failure_count: int

    @property
    def trust(self) -> float:
        """The success rate, held down while there is little evidence: one success is 0.5."""
        return self.success_count / (self.success_count + self.failure_count + 1)


def recall(
    connection: sqlite3.Connection, goal: str, project: str, failure: str, count: int
) -> list[tuple[float, Entry]]:
    """The `count` best entries for a goal, each with its rank between 0 and 1, best first.

    Args:
        goal: only entries of this goal are told.
        project: the path; what was learnt there counts more.
        failure: what is wrong now; entries are looked up by its words. May be empty.
    """
    rows = connection.execute(f"SELECT {_COLUMNS} FROM entry WHERE goal = ? AND {_TOLD}", (goal,))
    entries = [Entry(*row) for row in rows]
    likeness = _likeness(connection, failure)
    ranked = [
        (
            BY_TRUST * entry.trust
            + BY_LIKENESS * likeness.get(entry.number, 0.0)
            + BY_PROJECT * (entry.project == project),
            entry,
        )
        for entry in entries
    ]
    return sorted(ranked, key=lambda pair: (-pair[0], -pair[1].success_count, pair[1].id))[:count]


def _likeness(connection: sqlite3.Connection, failure: str) -> dict[int, float]:
    """By number: how well an entry's text fits, 1 for the best; FTS5's bm25, the lower the better.

    bm25 weighs the columns goal, failure, pattern, note: what was wrong says most.
    """
    words = words_of(failure)
    if not words:
        return {}
    # Quoted, so that no word is taken for an operator.
    wanted = " OR ".join(f'"{word}"' for word in words)
    rows: Sequence[tuple[int, float]] = connection.execute(
        "SELECT rowid, bm25(entry_text, 0.0, 4.0, 1.0, 1.0) FROM entry_text "
        "WHERE entry_text MATCH ?",
        (wanted,),
    ).fetchall()
    best = min((score for _, score in rows), default=0.0)
    # In a small table every word may be in every row: all fit alike then.
    return {number: (score / best if best < 0 else 1.0) for number, score in rows}


def every(connection: sqlite3.Connection) -> list[Entry]:
    """All entries by goal, the most trusted first."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM entry")
    entries = [Entry(*row) for row in rows]
    return sorted(entries, key=lambda entry: (entry.goal, -entry.trust, entry.pattern, entry.id))


def knows(connection: sqlite3.Connection, lesson: Lesson) -> bool:
    """Whether a strategy is there already."""
    found = connection.execute("SELECT 1 FROM entry WHERE id = ?", (entry_id(lesson),))
    return found.fetchone() is not None


def add_success(connection: sqlite3.Connection, lesson: Lesson) -> None:
    """Count one more success for a strategy, which is new or known."""
    connection.execute(
        "INSERT INTO entry (id, goal, project, failure, pattern, note) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET success_count = success_count + 1, "
        "note = CASE excluded.note WHEN '' THEN note ELSE excluded.note END",
        (
            entry_id(lesson),
            lesson.goal,
            lesson.project,
            lesson.failure,
            lesson.pattern,
            lesson.note,
        ),
    )


def add_failures(connection: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Count a failure for each of these entries that is still there."""
    connection.executemany(
        "UPDATE entry SET failure_count = failure_count + 1 WHERE id = ?", [(i,) for i in ids]
    )


def forget(connection: sqlite3.Connection, ids: Iterable[str]) -> int:
    """Drop these entries; how many there were."""
    return sum(
        connection.execute("DELETE FROM entry WHERE id = ?", (i,)).rowcount for i in set(ids)
    )


def forget_beyond(connection: sqlite3.Connection, count: int) -> None:
    """Keep the `count` most trusted entries; the newest stays, it had no chance yet."""
    connection.execute(
        "DELETE FROM entry WHERE number NOT IN (SELECT number FROM entry ORDER BY "
        "number = (SELECT max(number) FROM entry) DESC, "
        "1.0 * success_count / (success_count + failure_count + 1) DESC, number DESC LIMIT ?)",
        (count,),
    )


def entry_id(lesson: Lesson) -> str:
    """Ten hexadecimal digits, the same as long as goal, project, kind of failure and pattern are.

    Counts in the failure's text make no difference: it is known by its words.
    """
    key = (lesson.goal, lesson.project, *words_of(lesson.failure), "\0", lesson.pattern.casefold())
    return hashlib.sha256("\0".join(key).encode(errors="replace")).hexdigest()[:10]
