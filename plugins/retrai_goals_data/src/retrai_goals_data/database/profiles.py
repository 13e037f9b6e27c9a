"""Statistics of tables, for the model: what a planner knows and a reader of the query does not."""

from __future__ import annotations

from collections.abc import Sequence

from .connecting import Database
from .reading import quoted

MAX_COLUMNS = 40
_LONGEST = 40


def profile(database: Database, tables: Sequence[str]) -> str:
    """The statistics of each table as text; why there are none, where a table has none."""
    return "\n\n".join(_of_table(database, name) for name in tables)


def _of_table(database: Database, name: str) -> str:
    sql = ".".join(quoted(part) for part in name.split("."))
    cursor = database.cursor()
    try:
        with database.time_limit():
            cursor.execute(f"SELECT * FROM {sql} LIMIT 0")
            columns = [str(column[0]) for column in cursor.description][:MAX_COLUMNS]
            asked = ", ".join(
                f"count({c}), count(DISTINCT {c}), min({c}), max({c})" for c in map(quoted, columns)
            )
            cursor.execute(f"SELECT count(*), {asked} FROM {sql}")
            rows, *figures = cursor.fetchone()
    except Exception as error:  # noqa: BLE001 - a driver's own errors; the statistics are an extra
        database.rollback()
        return f"{name}: (no statistics: {' '.join(str(error).split())[:200]})"
    lines = [f"{name}: {rows} rows"]
    for number, column in enumerate(columns):
        filled, different, least, greatest = figures[4 * number : 4 * number + 4]
        lines.append(
            f"- {column}: {different} different, {rows - filled} missing, "
            f"{_short(least)} to {_short(greatest)}"
        )
    return "\n".join(lines)


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
