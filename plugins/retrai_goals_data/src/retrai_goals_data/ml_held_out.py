"""The held-out rows: kept from the first check on, shown without what is to be predicted."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from pathlib import Path

from .analysis.tables import Table, TableError, as_csv, read_csv

NAME = "held-out.csv"
MAX_BYTES = 50_000_000


@dataclass(frozen=True)
class HeldOut:
    """Held-out rows in the order in which one run shows them.

    Attributes:
        features: a CSV file without the target.
        truth: the target, row by row.
        train: a CSV file with the other rows; None where the project's data has none of these.
    """

    features: bytes
    truth: list[str]
    train: bytes | None = None


def keep_held_out(
    path: Path, run_dir: Path, target: str, run_id: str, share: float | None = None
) -> HeldOut:
    """The held-out rows as they were at the first check, in an order of this run's own.

    In another order than the file's, so that predictions by place are worth nothing.

    Args:
        path: a CSV file.
        run_dir: where it is kept.
        target: the column to predict.
        run_id: decides the order, and which rows are held out.
        share: of the rows that are held out, above 0 and below 1; all of them where it is None.

    Raises:
        TableError: the file is not there, lacks the target, or has too few rows.
    """
    option = "test_data" if share is None else "data_file"
    kept = run_dir / NAME
    if not kept.exists():
        try:
            size = path.stat().st_size
            data = path.read_bytes() if size <= MAX_BYTES else b""
        except OSError as error:
            raise TableError(f"{option} {path}: {error.strerror}") from error
        if size > MAX_BYTES:
            raise TableError(f"{option} {path} is larger than {MAX_BYTES // 1_000_000} MB")
        _split(data, target, run_id, share)
        run_dir.mkdir(parents=True, exist_ok=True)
        half = kept.with_suffix(".new")
        half.write_bytes(data)
        half.replace(kept)
    return _split(kept.read_bytes(), target, run_id, share)


def _split(data: bytes, target: str, run_id: str, share: float | None) -> HeldOut:
    option = "test_data" if share is None else "data_file"
    try:
        table = read_csv(data)
        truth = table.texts(target)
    except TableError as error:
        raise TableError(f"{option}: {error}") from error
    missing = sum(not text.strip() for text in truth)
    if missing:
        raise TableError(f"{option}: {missing} rows have no {target}")
    order = list(range(table.rows))
    random.Random(hashlib.sha256(run_id.encode()).digest()).shuffle(order)
    train = None
    if share is not None:
        count = round(share * table.rows)
        order, others = order[:count], sorted(order[count:])
        if len({truth[index] for index in order}) < 2 or len(others) < 2:
            raise TableError(
                f"{option}: with held_out_share={share:g} of {table.rows} rows the held-out ones "
                f"have fewer than two different values of {target}"
            )
        train = _rows(table, list(table.columns), others)
    features = _rows(table, [name for name in table.columns if name != target], order)
    return HeldOut(features, [truth[index] for index in order], train)


def _rows(table: Table, names: list[str], order: list[int]) -> bytes:
    return as_csv({name: [table.columns[name][index] for index in order] for name in names})
