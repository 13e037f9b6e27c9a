"""What the model is told of the goal `sql-benchmark`."""

from __future__ import annotations

from .dsn import Dsn
from .sql_options import SqlBenchmarkOptions

PROMPT = """\
The goal is `sql-benchmark`: {what} answers within {max_ms:g} ms (median of {runs} runs, every row \
fetched, measured by retrai's own process) on {database}, and gives the same rows as at the start.

- Read the plan first: the check gives you the database's EXPLAIN, and `sql_bench` gives it, with \
timings, for any query that you want to try. Look for full scans of large tables, sorts and \
temporary trees, queries that run again for each row, and conversions that keep an index from \
being used.
- {may_change}
- {indexes}
- The same rows means: the same columns in the same order, as many rows, the same values (floats \
to nine digits), and the order where the first query has an ORDER BY. Leave the meaning as it is, \
also for NULLs and duplicates.
- The data may not be changed: it is compared with what it was at the start. A rewritten query is \
also tried on samples of the data and on data with the values dealt out anew, so an answer or a \
threshold that is written down, or copied into another table, fails. It may read only the tables \
that it read at first{extra}.
- Measure before and after each change, and keep only what helps.\
"""


def prompt_for(options: SqlBenchmarkOptions, dsn: Dsn) -> str:
    """The goal's part of the system prompt."""
    extra = f", and {', '.join(options.extra_tables)}" if options.extra_tables else ""
    return PROMPT.format(
        what=f"the query in `{options.query_file}`" if options.query_file else "a query",
        max_ms=options.max_ms,
        runs=options.runs,
        database=f"`{dsn.shown}` ({dsn.dialect})",
        may_change=(
            f"Rewrite the query in `{options.query_file}`: one statement, which only reads."
            if options.query_file
            else f"The query itself is fixed:\n\n{options.query.strip()}\n"
        ),
        indexes=(
            "Indexes may be added: `sql_bench` runs CREATE INDEX, DROP INDEX and ANALYZE, and "
            "nothing else that writes. The fewest that help are the best, for each costs when rows "
            "are written."
            if options.allow_indexes
            else "Indexes may not be added; `sql_bench` only reads."
        ),
        extra=extra,
    )
