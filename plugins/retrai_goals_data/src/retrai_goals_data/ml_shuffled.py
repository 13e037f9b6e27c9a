"""Deals out the targets of a project's data anew, in a copy of it."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Sequence
from pathlib import Path

from pathspec import GitIgnoreSpec

from .analysis.tables import TableError, read_csv

MAX_BYTES = 50_000_000


def shuffle_targets(copy: Path, globs: Sequence[str], target: str) -> bool:
    """Shuffle the target's column in each CSV file that has one; whether there was any.

    Args:
        copy: a copy of the project, which is changed.
        globs: the data files, in gitignore syntax.
        target: the column.
    """
    data_files = GitIgnoreSpec.from_lines(globs)
    done = False
    for path in sorted(copy.rglob("*.csv")):
        name = path.relative_to(copy).as_posix()
        if not path.is_symlink() and data_files.match_file(name):
            done = _shuffle(path, target) or done
    return done


def _shuffle(path: Path, target: str) -> bool:
    try:
        if path.stat().st_size > MAX_BYTES:
            return False
        table = read_csv(path.read_bytes())
        values = list(table.texts(target))
    except (OSError, TableError):
        return False
    random.Random(1).shuffle(values)
    columns = {**table.columns, target: values}
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    path.write_text(output.getvalue(), "utf-8")
    return True
