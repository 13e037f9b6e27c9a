"""What one bad plugin does to its host: retrai, and llm, pytest, tox and datasette beside it.

    python benchmarks/hostile_plugins.py [--only NAME ...] [--hosts] [--cache DIR] [--write FILE]

Builds a wheel for each way in which a plugin can be bad, installs it into a throw-away folder, and
runs the host's commands with it. For retrai every cell has a documented result (exit code, words,
no traceback, nothing left running); exits 1 when one differs. With `--hosts` the same plugins,
adapted, are tried against the other hosts, which are installed by uv into DIR
(`RETRAI_BENCH_CACHE`); `--write` puts the tables into a page between its markers.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from hostile.making import Hostile
from hostile.plugins import ROWS
from hostile.retrai_cells import COMMANDS, problems_of


def main() -> int:
    """Try and print; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these plugins alone")
    parser.add_argument("--hosts", action="store_true", help="try the other hosts too")
    parser.add_argument(
        "--cache",
        type=Path,
        default=os.environ.get("RETRAI_BENCH_CACHE"),
        help="where the other hosts are installed, and stay",
    )
    parser.add_argument("--write", type=Path, help="the page to write the tables into")
    options = parser.parse_args()
    if options.hosts and options.cache is None:
        parser.error("--hosts needs --cache or RETRAI_BENCH_CACHE")
    rows = [row for row in ROWS if options.only is None or row.name in options.only]
    wrong = sum(try_row(row) for row in rows)
    print(f"{len(rows)} plugins, {len(rows) * len(COMMANDS)} cells, {wrong} not as documented")
    if options.hosts:
        from hostile.page import write_page
        from hostile.tables import host_tables

        tables = host_tables(options.cache, options.only)
        print(tables)
        if options.write and not wrong:
            write_page(options.write, tables)
    return 1 if wrong else 0


def try_row(row: Hostile) -> int:
    """Print one row; how many of its cells are not as documented."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        problems = problems_of(Path(folder), row)
    told = [problem for problem in problems.values() if problem]
    print(f"{'WRONG' if told else 'ok':6} {row.title:52} {row.outcome}", flush=True)
    for command, problem in problems.items():
        if problem:
            print(f"       {command}: {problem}", flush=True)
    return len(told)


if __name__ == "__main__":
    sys.exit(main())
