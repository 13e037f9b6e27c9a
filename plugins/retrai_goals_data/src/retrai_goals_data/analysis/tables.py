"""A CSV file as columns, with errors that name the line and the column."""

from __future__ import annotations

import csv
import difflib
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DELIMITERS = ",;\t|"
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
MAX_FIELD_CHARS = 1_000_000
MAX_CELLS = 20_000_000


class TableError(Exception):
    """The table is not what was asked for; the message is one line for people and the model."""


@dataclass(frozen=True)
class Table:
    """Columns of text, all of one length.

    Attributes:
        columns: by name, in the file's order.
        rows: how many.
    """

    columns: dict[str, list[str]]
    rows: int

    def texts(self, name: str) -> list[str]:
        """A column as it stands there.

        Raises:
            TableError: there is no such column.
        """
        found = self.columns.get(name)
        if found is None:
            near = difflib.get_close_matches(name, self.columns, 1, cutoff=0.4)
            meant = f"; did you mean {near[0]}?" if near else ""
            known = ", ".join(list(self.columns)[:20])
            raise TableError(f"there is no column {name}{meant} (there are: {known})")
        return found

    def numbers(self, name: str) -> list[float]:
        """A column as numbers; what is missing is NaN.

        Raises:
            TableError: there is no such column, or a value is no number.
        """
        found: list[float] = []
        for line, text in enumerate(self.texts(name), start=2):
            number = as_number(text)
            if number is None:
                raise TableError(f"the column {name} is not numeric: {text[:40]!r} in line {line}")
            found.append(number)
        return found

    def is_numeric(self, name: str) -> bool:
        """Whether every value of the column that is there is a number."""
        numbers = [as_number(text) for text in self.texts(name)]
        there = [number for number in numbers if number is None or not math.isnan(number)]
        return bool(there) and all(number is not None for number in there)


def as_number(text: str) -> float | None:
    """A cell as a number, NaN where it is missing, None where it is something else."""
    text = text.strip()
    if text.casefold() in MISSING:
        return math.nan
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def read_csv(data: bytes) -> Table:
    """Parse a CSV file with a header; comma, semicolon, tab or bar, whichever the header has most.

    Raises:
        TableError: it is empty, no text, too large, or a row has more or fewer cells than the
            header.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError(f"it is no UTF-8 text (byte {error.start})") from error
    if not text.strip():
        raise TableError("it is empty")
    if "\0" in text:
        raise TableError("it is no text: it holds a NUL byte")
    head = text.lstrip().split("\n", 1)[0]
    delimiter = max(DELIMITERS, key=head.count)
    csv.field_size_limit(MAX_FIELD_CHARS)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(row for row in reader if row)]
        _require_names(header)
        rows: list[list[str]] = []
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                cells = f"{len(row)} {'cell' if len(row) == 1 else 'cells'}"
                raise TableError(
                    f"line {reader.line_num} has {cells}, and the header has {len(header)}"
                )
            rows.append(row)
            if len(rows) * len(header) > MAX_CELLS:
                raise TableError(f"it has more than {MAX_CELLS} cells")
    except csv.Error as error:
        raise TableError(f"line {reader.line_num}: {error}") from error
    if not rows:
        raise TableError("it has a header and no rows")
    columns = {name: [row[index] for row in rows] for index, name in enumerate(header)}
    return Table(columns, len(rows))


def _require_names(header: Sequence[str]) -> None:
    for name in header:
        if not name:
            raise TableError(f"column {header.index(name) + 1} of the header has no name")
        if list(header).count(name) > 1:
            raise TableError(f"the header names {name} more than once")


def as_csv(columns: Mapping[str, Sequence[str]]) -> bytes:
    """A CSV file of columns, with a header.

    Example:
        >>> as_csv({"a": ["1", "2"], "b": ["x", "y"]})
        b'a,b\\n1,x\\n2,y\\n'
    """
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return output.getvalue().encode()
