"""Whether what a query reads is a table or a view, and what a view is made of.

A view that a table of the same rows has replaced gives the same answer faster, until the data
changes. What a view reads in its turn counts too.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any

from .connecting import Database

TABLE = "table"

_Objects = Mapping[str, tuple[str, str]]
"""Kind and definition by name; a table's definition is empty."""

_SQLITE = "SELECT 'main', name, type, sql FROM sqlite_master WHERE type IN ('table', 'view')"
_DUCKDB = """
SELECT schema_name, view_name, 'view', sql FROM duckdb_views() WHERE NOT internal
UNION ALL SELECT schema_name, table_name, 'table', '' FROM duckdb_tables() WHERE NOT internal
"""
_POSTGRESQL = """
WITH RECURSIVE used (oid) AS (
    SELECT to_regclass(%s)::oid
    UNION
    SELECT pg_depend.refobjid FROM used JOIN pg_rewrite ON pg_rewrite.ev_class = used.oid
      JOIN pg_depend ON pg_depend.classid = 'pg_rewrite'::regclass
       AND pg_depend.objid = pg_rewrite.oid AND pg_depend.refclassid = 'pg_class'::regclass
)
SELECT nspname, relname,
       CASE relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' ELSE 'table' END,
       CASE WHEN relkind IN ('v', 'm') THEN pg_get_viewdef(pg_class.oid) ELSE '' END
  FROM used JOIN pg_class USING (oid) JOIN pg_namespace ON pg_namespace.oid = relnamespace
 WHERE relkind IN ('r', 'p', 'f', 'v', 'm')
"""
_HOME = frozenset({"main", "public"})


def definitions(database: Database, table: str) -> dict[str, str]:
    """Of a table or view and of all that it reads: what each is, by name.

    That is the kind, and for a view a digest of its definition (`view 0f3a...`). Empty where the
    database knows no such name.

    Args:
        database: an open one.
        table: a name as SQL.
    """
    with closing(database.cursor()) as cursor:
        if database.dialect == "postgresql":
            cursor.execute(_POSTGRESQL, (table,))
            return _digest_definitions(_by_name(cursor.fetchall()))
        cursor.execute(_DUCKDB if database.dialect == "duckdb" else _SQLITE)
        return _digest_definitions(_reached(_by_name(cursor.fetchall()), table))


def changed_definitions(
    before: Mapping[str, str], now: Mapping[str, str], allowed: Iterable[str]
) -> list[str]:
    """What is something else now, a line each; what has come since then is passed over.

    Args:
        before, now: see `definitions`.
        allowed: names that may become something else.

    Example:
        >>> changed_definitions({"spent": "view 0f3a"}, {"spent": "table"}, [])
        ['spent is a table, and was a view at the start']
        >>> changed_definitions({"spent": "view 0f3a"}, {"spent": "table"}, ["Spent"])
        []
    """
    may = {name.lower() for name in allowed}
    found: list[str] = []
    for name, was in before.items():
        there = now.get(name)
        if there in (None, was) or name in may:
            continue
        old, new = _kind(was), _kind(there or "")
        if old == new:
            found.append(f"the {old} {name} is defined otherwise than at the start")
        else:
            found.append(f"{name} is a {new}, and was a {old} at the start")
    return found


def _kind(told: str) -> str:
    return told.rpartition(" ")[0] or told


def _by_name(rows: Iterable[Any]) -> _Objects:
    found: dict[str, tuple[str, str]] = {}
    for schema, name, kind, text in rows:
        key = str(name).lower() if schema in _HOME else f"{schema}.{name}".lower()
        definition = " ".join(str(text or "").split()) if kind != TABLE else ""
        found[key] = (str(kind), definition)
    return found


def _reached(objects: _Objects, table: str) -> _Objects:
    """Those that the name stands for, and the words of whose views they are."""
    found: dict[str, tuple[str, str]] = {}
    schema, _, short = table.replace('"', "").lower().rpartition(".")
    pending = [f"{schema}.{short}" if schema and schema not in _HOME else short]
    while pending:
        name = pending.pop()
        if name not in objects or name in found:
            continue
        found[name] = objects[name]
        text = objects[name][1].lower()
        pending += [other for other in objects if _is_said(other, text)]
    return found


def _is_said(name: str, text: str) -> bool:
    """Whether a text has a name, which may have blanks, or the name without its schema."""
    return any(
        each in text and re.search(rf"(?<!\w){re.escape(each)}(?!\w)", text)
        for each in {name, name.rpartition(".")[2]}
    )


def _digest_definitions(objects: _Objects) -> dict[str, str]:
    return {
        name: f"{kind} {hashlib.sha256(text.encode()).hexdigest()[:16]}" if text else kind
        for name, (kind, text) in sorted(objects.items())
    }
