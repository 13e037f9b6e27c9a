"""What a query is, by its text: one statement, whether it writes, what it reads, its order."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from .jobs import Dialect

_NAMES: dict[Dialect, str] = {
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "postgresql": "postgres",
}
_WRITES = (
    exp.Insert,
    exp.Update,
    exp.Delete,
    exp.Merge,
    exp.Create,
    exp.Drop,
    exp.Alter,
    exp.TruncateTable,
    exp.Copy,
    exp.Into,
    exp.Command,
    exp.Pragma,
    exp.Set,
    exp.Attach,
    exp.Detach,
    exp.Transaction,
    exp.Commit,
    exp.Rollback,
    exp.Use,
)
_UPKEEP = re.compile(r"(?i)\s*(reindex|vacuum|(create|drop)\s+statistics)\b")
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_READS_FILES = re.compile(r"(?i)^(read_|parquet_|sniff_|glob\b|readcsv)")
_HOME_SCHEMAS = frozenset({"", "main", "public"})


class QueryError(Exception):
    """The text is no query that may run; the message says why, for people and the model."""


@dataclass(frozen=True)
class Query:
    """One parsed statement.

    Attributes:
        text: as it was written, without a closing semicolon.
        tree: as sqlglot reads it.
        dialect: of its database.
    """

    text: str
    tree: Any
    dialect: Dialect

    @property
    def writes(self) -> bool:
        """Whether any part of it changes something."""
        is_query = isinstance(self.tree, (exp.Query, exp.Values))
        return not is_query or self.tree.find(*_WRITES) is not None

    @property
    def is_index(self) -> bool:
        """Whether it makes or drops an index, or gathers statistics, and does nothing else."""
        tree = self.tree
        if _UPKEEP.match(self.text):
            return True
        if isinstance(tree, (exp.Create, exp.Drop)):
            return str(tree.args.get("kind", "")).upper() == "INDEX"
        return isinstance(tree, exp.Analyze)

    @property
    def tables(self) -> dict[str, str]:
        """What it reads: the names as SQL, by a name that is the same however it is written."""
        found: dict[str, str] = {}
        for table in self.tree.find_all(exp.Table):
            if not isinstance(table.this, exp.Identifier):
                continue  # a function that gives rows
            schema = str(table.db)
            if not schema and _is_defined(self.tree, table):
                continue
            plain = exp.Table(
                this=table.args["this"].copy(),
                db=table.args["db"].copy() if table.args.get("db") else None,
            )
            name = table.name.lower()
            key = name if schema.lower() in _HOME_SCHEMAS else f"{schema.lower()}.{name}"
            found.setdefault(key, plain.sql(dialect=_NAMES[self.dialect], identify=True))
        return dict(sorted(found.items()))

    @property
    def literals(self) -> list[str]:
        """Every text and number that stands in it."""
        return [str(literal.this) for literal in self.tree.find_all(exp.Literal)]

    @property
    def qualifies(self) -> bool:
        """Whether it names the schema of a table, so that no other can stand in its place."""
        return any(str(table.db) for table in self.tree.find_all(exp.Table))

    @property
    def files(self) -> set[str]:
        """Calls in the place of a table that read a file, as SQL (`read_csv('a.csv')`)."""
        of_tables = [table.this for table in self.tree.find_all(exp.Table)]
        calls = [each for each in of_tables if not isinstance(each, exp.Identifier)]
        texts = (str(call.sql(dialect=_NAMES[self.dialect])) for call in calls)
        return {text for text in texts if _READS_FILES.match(text)}

    def order(self, columns: list[str]) -> list[int] | None:
        """Which columns of the answer ORDER BY names; None without one, empty where it cannot be
        said: then the order of whole rows counts.

        Rows that are equal in what they are ordered by may come in any order.
        """
        order = self.tree.args.get("order")
        if order is None:
            return None
        lower = [column.lower() for column in columns]
        by_text = {
            _bare(item): number
            for number, item in enumerate(self.tree.selects)
            if len(self.tree.selects) == len(columns)
        }
        found: list[int] = []
        for ordered in order.expressions:
            key = ordered.this
            if isinstance(key, exp.Literal) and key.is_int:
                index = int(key.this) - 1
            elif isinstance(key, exp.Column) and key.name.lower() in lower:
                index = lower.index(key.name.lower())
            else:
                index = by_text.get(_bare(key), -1)
            if not 0 <= index < len(columns):
                return []
            found.append(index)
        return found

    def for_samples(self, other: Query) -> tuple[Query, Query] | None:
        """Both queries as they are run on samples: without the schema that an unqualified table has
        anyway, and without the LIMIT that ends them alike. None where a LIMIT stays inside.

        On a sample more rows are equal in what they are ordered by, and which of those come within
        the limit says nothing.
        """
        one, two = self._unqualified(), other._unqualified()
        for name in ("limit", "offset"):
            if one.args.get(name) == two.args.get(name):
                one.set(name, None)
                two.set(name, None)
        if any(one.find_all(exp.Limit, exp.Fetch)):
            return None
        if (one, two) == (self.tree, other.tree):
            return self, other
        # A column without a name is called as it is written, so both are written anew.
        return self._with(one), other._with(two)

    def _with(self, tree: Any) -> Query:
        """The query of a changed tree."""
        return read_query(tree.sql(dialect=_NAMES[self.dialect]), self.dialect)

    def _unqualified(self) -> Any:
        """A copy of the tree; in it no schema is named that an unqualified table has anyway. A part
        of the query (WITH) that has the name of such a table gets another one."""
        tree, usual = self.tree.copy(), "public" if self.dialect == "postgresql" else "main"
        tables = list(tree.find_all(exp.Table))
        qualified = [each for each in tables if each.db.lower() == usual and not each.catalog]
        names = {table.name.lower() for table in qualified}
        parts = [cte for cte in tree.find_all(exp.CTE) if cte.alias_or_name.lower() in names]
        of_parts = [
            each
            for each in tables
            if not each.db and each.name.lower() in names and _is_defined(tree, each)
        ]
        for table in of_parts:
            if not table.alias:
                table.set("alias", exp.TableAlias(this=table.this.copy()))
            table.set("this", exp.to_identifier(f"{table.name.lower()}_part"))
        for part in parts:
            name = f"{part.alias_or_name.lower()}_part"
            part.args["alias"].set("this", exp.to_identifier(name))
        for table in qualified:
            table.set("db", None)
        for column in tree.find_all(exp.Column):
            if column.db.lower() == usual and column.table.lower() in names:
                column.set("db", None)
        return tree

    def with_lower_bounds(self, other: Query) -> tuple[Query, Query] | None:
        """Both queries with each lower bound divided by ten that occurs as often in both; None
        where there is none."""
        trees = self.tree.copy(), other.tree.copy()
        bounds = [_lower_bounds(tree) for tree in trees]
        one, two = (Counter(str(bound.this) for bound in some) for some in bounds)
        lowered = {number for number, times in one.items() if two[number] == times}
        if not lowered:
            return None
        for bound in chain.from_iterable(bounds):
            if str(bound.this) in lowered:
                bound.set("this", str(max(1.0, float(bound.this) / 10)))
        left, right = (self._with(tree) for tree in trees)
        return left, right


def read_query(text: str, dialect: Dialect) -> Query:
    """Parse one statement.

    Raises:
        QueryError: it is empty, several, or no SQL.
    """
    if "\0" in text:
        raise QueryError("the query holds a NUL byte")
    try:
        trees = [tree for tree in sqlglot.parse(text, dialect=_NAMES[dialect]) if tree is not None]
    except (SqlglotError, RecursionError) as error:
        first = (str(error).splitlines() or ["it is too deep"])[0]
        raise QueryError(f"it cannot be read as {dialect} SQL: {first}") from error
    trees = [tree for tree in trees if not isinstance(tree, exp.Semicolon)]
    if not trees:
        raise QueryError("the query is empty")
    if len(trees) > 1:
        raise QueryError(f"it is {len(trees)} statements; give one")
    return Query(text.strip().rstrip(";").rstrip(), trees[0], dialect)


def require_reading(query: Query, allow_writes: bool) -> None:
    """Refuse a statement that writes, unless that is allowed.

    Raises:
        QueryError: it writes.
    """
    if query.writes and not allow_writes:
        what = query.text.split(None, 1)[0].upper()
        raise QueryError(
            f"this {what} statement is refused because it does not only read; the user can allow "
            "it with `allow_writes`, in a transaction that is rolled back"
        )


def quoted(name: str) -> str:
    """A name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def unquoted(table: str) -> str:
    """The name of a table, without its schema, from how it is written in SQL.

    Example:
        >>> unquoted('"main"."orders"')
        'orders'
    """
    return _QUOTED.findall(table)[-1].replace('""', '"')


def _bare(item: Any) -> str:
    return (item.this if isinstance(item, exp.Alias) else item).sql().lower()


def _is_defined(tree: Any, table: Any) -> bool:
    """Whether a name stands for a part of the query (WITH) and not for a table."""
    name = table.name.lower()
    parts = (cte for cte in tree.find_all(exp.CTE) if cte.alias_or_name.lower() == name)
    # Within its own definition the name means the table, unless it is recursive.
    return any(
        cte.parent.args.get("recursive") or all(each is not table for each in cte.walk())
        for cte in parts
    )


def _lower_bounds(tree: Any) -> list[Any]:
    """The numbers over one that something must be greater than."""
    bounds = [
        *(node.expression for node in tree.find_all(exp.GT, exp.GTE)),
        *(node.this for node in tree.find_all(exp.LT, exp.LTE)),
    ]
    literals = (one for one in bounds if isinstance(one, exp.Literal) and one.is_number)
    return [one for one in literals if float(one.this) > 1]
