"""The list of runs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar, cast

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Footer, Input, Static

from retrai_core import RetraiError, RunRecord, UnreadableRun, UsageError

from .screen import RetraiScreen
from .text import age, first_line, goal_of, line_of, status_text

_LIMIT = 200
_RELOAD_S = 5.0
_COLUMNS = ("STATUS", "GOAL", "ITER", "AGE", "MODEL", "PROJECT")
_LONGEST_CELL = 24


class RunsScreen(RetraiScreen):
    """All runs, or those of this project, the newest first; it follows their status."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "start", "New run"),
        Binding("p", "only_project", "This project"),
        Binding("slash", "search", "Search"),
        Binding("escape", "search_nothing", show=False),
        Binding("q", "app.quit", "Quit"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._runs: dict[str, RunRecord | UnreadableRun] = {}
        self._is_for_project = False
        self._text = ""
        self._to_select = ""

    @property
    def _table(self) -> DataTable[Text]:
        return cast("DataTable[Text]", self.query_one("#runs"))

    def compose(self) -> ComposeResult:
        """The parts."""
        yield Static(id="head")
        yield Input(placeholder="text in id, goal, model, project, task or reason", compact=True)
        table: DataTable[Text] = DataTable(cursor_type="row", id="runs")
        yield table
        yield Static(id="reason")
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Show the runs, and follow them."""
        self.query_one(Input).display = False
        self._load()
        self._follow()
        self.set_interval(_RELOAD_S, self._load)

    def on_screen_resume(self) -> None:
        """Another screen may have changed something."""
        self._table.focus()
        self._load()

    def select(self, run_id: str) -> None:
        """Put the cursor on a run, once the list has it."""
        self._to_select = run_id
        self._load()

    @work(exclusive=True, group="load")
    async def _load(self) -> None:
        project = self._app.project if self._is_for_project else None
        try:
            found = await self._app.manager.list(
                project=project, text=self._text or None, limit=_LIMIT
            )
        except (RetraiError, OSError) as error:
            self.query_one("#reason", Static).update(line_of(error, "red"))
            return
        self._runs = {run.id: run for run in found}
        self._show()

    @work(group="follow")
    async def _follow(self) -> None:
        try:
            async for record in self._app.manager.events():
                if record.id in self._runs:
                    self._runs[record.id] = record
                    self._show()
                else:
                    self._load()
        except (RetraiError, OSError) as error:  # the list is read again anyway
            self.log(error)

    def _show(self) -> None:
        table = self._table
        selected, row = self._selected(), table.cursor_row
        if self._to_select in self._runs:
            selected, self._to_select = self._to_select, ""
        rows = {run_id: _cells(run) for run_id, run in self._runs.items()}
        table.clear(columns=True)
        # Our widths: a table that measures its cells may draw its first lines before it has.
        for label, *cells in zip(_COLUMNS, *rows.values(), strict=True):
            table.add_column(label, width=max(len(label), *(cell.cell_len for cell in cells), 0))
        for run_id, cells in rows.items():
            table.add_row(*cells, key=run_id)
        if self._runs:
            ids = list(self._runs)
            row = ids.index(selected) if selected in self._runs else min(row, len(ids) - 1)
            table.move_cursor(row=max(0, row), animate=False)
        place = self._app.project if self._is_for_project else "all projects"
        number = f"{len(self._runs)}{'+' if len(self._runs) == _LIMIT else ''}"
        searched = f", with {self._text!r}" if self._text else ""
        self.query_one("#head", Static).update(
            line_of("retrai", "bold").append_text(line_of(f"  runs of {place}: {number}{searched}"))
        )
        self._show_reason()

    def _selected(self) -> str:
        table = self._table
        if not table.is_valid_row_index(table.cursor_row):
            return ""
        key = table.coordinate_to_cell_key(table.cursor_coordinate).row_key
        return key.value or ""

    @on(DataTable.RowHighlighted)
    def _show_reason(self) -> None:
        line: object = "no run yet: n starts one" if not self._text else "no run has this text"
        run = self._runs.get(self._selected())
        if isinstance(run, UnreadableRun):
            line = f"{run.id}: {run.problem}"
        elif run is not None:
            line = f"{run.id}  {first_line(run.reason) or run.task}"
        self.query_one("#reason", Static).update(line_of(line, "dim"))

    @on(DataTable.RowSelected)
    async def _open(self, event: DataTable.RowSelected) -> None:
        run = self._runs.get(event.row_key.value or "")
        if isinstance(run, RunRecord):
            await self._app.show_run(run.id)
        elif run is not None:
            self._app.say(UsageError(f"run {run.id} cannot be read: {run.problem}"))

    @on(Input.Submitted)
    def _search(self, event: Input.Submitted) -> None:
        self._text = event.value.strip()
        event.input.display = bool(self._text)
        self._table.focus()
        self._load()

    def action_search(self) -> None:
        """Ask for a text."""
        field = self.query_one(Input)
        field.display = True
        field.focus()

    def action_search_nothing(self) -> None:
        """Show all runs again."""
        field = self.query_one(Input)
        field.value = ""
        self._search(Input.Submitted(field, ""))

    def action_start(self) -> None:
        """The form of a new run."""
        self._app.show_form()

    def action_only_project(self) -> None:
        """Only runs of this project, or all again."""
        self._is_for_project = not self._is_for_project
        self._load()


def _cells(run: RunRecord | UnreadableRun) -> list[Text]:
    if isinstance(run, UnreadableRun):
        empty = Text("-", style="dim")
        since = line_of(age(time.time() - run.changed_at))
        return [status_text("unreadable"), line_of(run.id), empty, since, empty, empty]
    limit = run.limits.max_iterations
    iterations = f"{run.iterations}/{limit}" if limit else str(run.iterations)
    cells = [
        status_text(run.status),
        line_of(goal_of(run)),
        line_of(iterations),
        line_of(age(time.time() - run.created_at)),
        line_of(run.model),
        line_of(Path(run.project).name or run.project),
    ]
    for cell in cells:
        cell.truncate(_LONGEST_CELL, overflow="ellipsis")
    return cells
