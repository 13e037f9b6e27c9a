"""The held-out rows: kept from the first check on, shown without what is to be predicted."""

from __future__ import annotations

import csv
import hashlib
import io
import random
from dataclasses import dataclass
from pathlib import Path

from .analysis.tables import Table, TableError, read_csv

NAME = "held-out.csv"
MAX_BYTES = 50_000_000


@dataclass(frozen=True)
class HeldOut:
    """Held-out rows in the order in which one run shows them.

    Attributes:
        features: a CSV file without the target.
        truth: the target, row by row.
    """

    features: bytes
    truth: list[str]


def keep_held_out(path: Path, run_dir: Path, target: str, run_id: str) -> HeldOut:
    """The held-out rows as they were at the first check, in an order of this run's own.

    In another order than the file's, so that predictions by place are worth nothing.

    Raises:
        TableError: the file is not there, or lacks the target.
    """
    kept = run_dir / NAME
    if not kept.exists():
        try:
            size = path.stat().st_size
            data = path.read_bytes() if size <= MAX_BYTES else b""
        except OSError as error:
            raise TableError(f"test_data {path}: {error.strerror}") from error
        if size > MAX_BYTES:
            raise TableError(f"test_data {path} is larger than {MAX_BYTES // 1_000_000} MB")
        _split(data, target, run_id)
        run_dir.mkdir(parents=True, exist_ok=True)
        half = kept.with_suffix(".new")
        half.write_bytes(data)
        half.replace(kept)
    return _split(kept.read_bytes(), target, run_id)


def _split(data: bytes, target: str, run_id: str) -> HeldOut:
    try:
        table = read_csv(data)
        truth = table.texts(target)
    except TableError as error:
        raise TableError(f"test_data: {error}") from error
    missing = sum(not text.strip() for text in truth)
    if missing:
        raise TableError(f"test_data: {missing} rows have no {target}")
    order = list(range(table.rows))
    random.Random(hashlib.sha256(run_id.encode()).digest()).shuffle(order)
    return HeldOut(_features(table, target, order), [truth[index] for index in order])


def _features(table: Table, target: str, order: list[int]) -> bytes:
    names = [name for name in table.columns if name != target]
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([table.columns[name][index] for name in names] for index in order)
    return output.getvalue().encode()
