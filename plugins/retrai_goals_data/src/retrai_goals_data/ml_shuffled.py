"""Deals out a project's data anew, in a copy of it: its targets, or each column by itself."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from pathspec import GitIgnoreSpec

from .analysis.tables import TableError, as_csv, read_csv

MAX_BYTES = 50_000_000


def shuffle_targets(copy: Path, globs: Sequence[str], target: str) -> bool:
    """Shuffle the target's column in each CSV file that has one, and say whether there was any.

    Without a target every column is dealt out by itself: then no column tells of another.

    Args:
        copy: a copy of the project, which is changed.
        globs: the data files, in gitignore syntax.
        target: the column; empty where it is not known.
    """
    dealt = [_shuffle(path, target) for path in _data_files(copy, globs)]
    return any(dealt)


def empty_data(copy: Path, globs: Sequence[str]) -> None:
    """Leave nothing of each CSV file but its header."""
    for path in _data_files(copy, globs):
        with path.open("rb") as file:
            header = file.readline(MAX_BYTES)
        path.write_bytes(header)


def _data_files(copy: Path, globs: Sequence[str]) -> list[Path]:
    meant = GitIgnoreSpec.from_lines(globs)
    return [
        path
        for path in sorted(copy.rglob("*.csv"))
        if path.is_file()
        and not path.is_symlink()
        and meant.match_file(path.relative_to(copy).as_posix())
    ]


def _shuffle(path: Path, target: str) -> bool:
    try:
        if path.stat().st_size > MAX_BYTES:
            return False
        rows = shuffled_table(path.read_bytes(), target)
    except (OSError, TableError):
        return False
    path.write_bytes(rows)
    return True


def shuffled_table(data: bytes, target: str) -> bytes:
    """A CSV file with the target's column shuffled; every column by itself without a target.

    Raises:
        TableError: it is no table, or lacks the target.
    """
    table = read_csv(data)
    names = [target] if target else list(table.columns)
    dealt = {name: list(table.texts(name)) for name in names}
    for number, values in enumerate(dealt.values(), start=1):
        random.Random(number).shuffle(values)
    return as_csv({**table.columns, **dealt})
