"""The database's own account of how it goes about a query."""

from __future__ import annotations

from contextlib import closing

from .connecting import Database
from .reading import Query

MAX_CHARS = 6_000


def explain(database: Database, query: Query) -> str:
    """EXPLAIN's answer as text; why there is none where it failed."""
    command = "EXPLAIN QUERY PLAN" if database.dialect == "sqlite" else "EXPLAIN"
    try:
        with closing(database.cursor()) as cursor:
            cursor.execute(f"{command} {query.text}")
            rows = cursor.fetchall()
    except Exception as error:  # noqa: BLE001 - a driver's own errors; the plan is an extra
        return f"(no plan: {error})"
    if database.dialect == "sqlite":
        text = _tree([(row[0], row[1], row[3]) for row in rows])
    else:
        text = "\n".join(str(row[-1]) for row in rows)
    return text[:MAX_CHARS]


def _tree(rows: list[tuple[int, int, str]]) -> str:
    depths: dict[int, int] = {0: -1}
    lines: list[str] = []
    for number, parent, what in rows:
        depths[number] = depths.get(parent, -1) + 1
        lines.append("  " * depths[number] + what)
    return "\n".join(lines)
