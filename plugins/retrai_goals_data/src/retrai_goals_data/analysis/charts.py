"""Draws a chart as a PNG image; runs in a process of its own."""

from __future__ import annotations

import base64
import io
import math
import os
import shutil
import tempfile
from importlib import import_module
from typing import Any

from ..answering import answer_job
from .jobs import ChartJob, Outcome
from .tables import Table, TableError, read_csv

DPI = 100
MAX_TICKS = 40
MAX_POINTS = 200_000


def main() -> None:
    """Read the job and the table, and answer with the image."""
    # matplotlib keeps a cache of fonts, which is nobody's but this process's.
    cache = tempfile.mkdtemp(prefix="retrai-chart-")
    os.environ["MPLCONFIGDIR"] = cache
    try:
        answer_job(ChartJob, do)
    finally:
        shutil.rmtree(cache, ignore_errors=True)


def do(job: ChartJob, data: bytes) -> Outcome:
    """The image, and what is in it."""
    try:
        return draw(job, _table(job, data))
    except TableError as error:
        return Outcome(problem=str(error))


def draw(job: ChartJob, table: Table) -> Outcome:
    """Draw the chart.

    Raises:
        TableError: the columns do not fit the chart.
    """
    if table.rows > MAX_POINTS:
        raise TableError(f"{table.rows} rows are too many for a chart; at most {MAX_POINTS}")
    matplotlib = import_module("matplotlib")
    matplotlib.use("Agg")
    figure = import_module("matplotlib.figure").Figure(
        figsize=(job.width, job.height), layout="constrained"
    )
    axes: Any = figure.subplots()
    columns = job.y or [n for n in table.columns if n != job.x and table.is_numeric(n)]
    if not columns:
        raise TableError("there is no numeric column to draw")
    drawing = {
        "line": _lines,
        "bar": _bars,
        "scatter": _points,
        "histogram": _histogram,
        "box": _boxes,
        "correlation": _correlation,
    }
    drawing[job.kind](axes, table, job.x, columns)
    if job.title:
        axes.set_title(job.title)
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=DPI)
    pixels = [round(job.width * DPI), round(job.height * DPI)]
    return Outcome(
        text=f"{job.kind} of {', '.join(columns)}, {table.rows} rows",
        data={"rows": table.rows, "columns": columns, "pixels": pixels},
        image=base64.b64encode(image.getvalue()).decode(),
    )


def _table(job: ChartJob, data: bytes) -> Table:
    if not job.columns:
        return read_csv(data)
    lengths = {len(values) for values in job.columns.values()}
    if len(lengths) != 1:
        sizes = ", ".join(f"{name}: {len(values)}" for name, values in job.columns.items())
        raise TableError(f"the columns are not of one length ({sizes})")
    (rows,) = lengths
    if not rows:
        raise TableError("the columns are empty")
    texts = {
        name: ["" if value is None else str(value) for value in values]
        for name, values in job.columns.items()
    }
    return Table(texts, rows)


def _across(table: Table, x: str) -> tuple[list[Any], bool]:
    """What stands along the horizontal axis; whether it is numbers."""
    if not x:
        return list(range(table.rows)), True
    if table.is_numeric(x):
        return list(table.numbers(x)), True
    return list(table.texts(x)), False


def _lines(axes: Any, table: Table, x: str, columns: list[str]) -> None:
    across, numeric = _across(table, x)
    order = sorted(range(len(across)), key=across.__getitem__) if numeric else range(len(across))
    for name in columns:
        numbers = table.numbers(name)
        axes.plot([across[n] for n in order], [numbers[n] for n in order], label=name)
    _name_axes(axes, x, columns, across, numeric)


def _points(axes: Any, table: Table, x: str, columns: list[str]) -> None:
    if not x:
        raise TableError("a scatter chart needs `x`, the column along the horizontal axis")
    across, numeric = _across(table, x)
    for name in columns:
        axes.scatter(across, table.numbers(name), label=name, s=14, alpha=0.7)
    _name_axes(axes, x, columns, across, numeric)


def _bars(axes: Any, table: Table, x: str, columns: list[str]) -> None:
    names = [str(one) for one in _across(table, x)[0]]
    width = 0.8 / len(columns)
    for number, name in enumerate(columns):
        places = [index + number * width for index in range(len(names))]
        axes.bar(places, table.numbers(name), width=width, label=name)
    if len(names) <= MAX_TICKS:
        centre = 0.4 - width / 2
        axes.set_xticks([index + centre for index in range(len(names))], names, rotation=45)
    _name_axes(axes, x, columns, [], True)


def _histogram(axes: Any, table: Table, x: str, columns: list[str]) -> None:
    for name in columns:
        axes.hist(_there(table, name), bins=30, alpha=0.6, label=name)
    axes.set_ylabel("count")
    _name_axes(axes, "", columns, [], True)


def _boxes(axes: Any, table: Table, x: str, columns: list[str]) -> None:
    if x and len(columns) == 1:
        numbers, groups = table.numbers(columns[0]), table.texts(x)
        names = list(dict.fromkeys(groups))
        there = [pair for pair in zip(numbers, groups, strict=True) if not math.isnan(pair[0])]
        values = [[number for number, group in there if group == name] for name in names]
    else:
        names, values = columns, [_there(table, name) for name in columns]
    axes.boxplot(values, tick_labels=names)
    axes.set_xlabel(x)


def _correlation(axes: Any, table: Table, x: str, columns: list[str]) -> None:
    if len(columns) < 2 or table.rows < 3:
        raise TableError("a correlation needs two numeric columns and three rows")
    numpy = import_module("numpy")
    matrix = numpy.ma.corrcoef(
        numpy.ma.masked_invalid([table.numbers(name) for name in columns])
    ).filled(0.0)
    axes.imshow(matrix, vmin=-1, vmax=1, cmap="coolwarm")
    axes.set_xticks(range(len(columns)), columns, rotation=45)
    axes.set_yticks(range(len(columns)), columns)
    for row in range(len(columns)):
        for column in range(len(columns)):
            axes.text(column, row, f"{matrix[row][column]:.2f}", ha="center", va="center")


def _there(table: Table, name: str) -> list[float]:
    return [number for number in table.numbers(name) if not math.isnan(number)]


def _name_axes(axes: Any, x: str, columns: list[str], across: list[Any], numeric: bool) -> None:
    if x:
        axes.set_xlabel(x)
    if len(columns) > 1:
        axes.legend()
    elif not axes.get_ylabel():
        axes.set_ylabel(columns[0])
    if not numeric and len(across) <= MAX_TICKS:
        axes.tick_params(axis="x", rotation=45)
