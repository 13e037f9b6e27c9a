"""The application: which screen is shown, and what all screens share."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, cast

from textual.app import App
from textual.binding import Binding, BindingType

from retrai_core import RetraiError, Run, RunManager, RunNotFoundError, visible

from .form_screen import PROJECT_FILE, FormScreen
from .messages import Messages
from .run_screen import RunScreen
from .runs_screen import RunsScreen
from .text import NOT_ENDED

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
_NOTE_S = 12.0
_BEGIN_LIMIT_S = 15.0


@dataclass(frozen=True)
class Start:
    """What is shown first.

    Attributes:
        goal: the form, with this goal.
        run: this run.
    """

    goal: str | None = None
    run: Run | None = None


class RetraiApp(App[None]):
    """Runs in a terminal, in the terminal's own 16 colours.

    Args:
        manager: starts runs in processes of their own, and knows all others.
        project: the project's folder.
        messages: what the manager says.
        start: what is shown first.
    """

    TITLE = "retrai"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "retrai.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "quit", show=False, priority=True),
    ]

    def __init__(
        self, manager: RunManager, project: Path, messages: Messages, start: Start
    ) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self.manager = manager
        self.project = project
        self._messages = messages
        self._first = start
        self._own: dict[str, Run] = {}

    async def on_mount(self) -> None:
        """The first screen."""
        self._messages.connect(self.note)
        await self.push_screen(RunsScreen())
        if self._first.run is not None:
            await self.show_run(self._first.run.id)
        elif self._first.goal is not None or await self._is_new_project():
            self.show_form(self._first.goal)

    async def _is_new_project(self) -> bool:
        """Neither settings nor a run: nobody has used retrai here."""
        if (self.project / PROJECT_FILE).exists():
            return False
        return not await self.manager.list(project=self.project, limit=1)

    # For the screens

    async def show_run(self, run_id: str) -> None:
        """A run, of whatever process."""
        try:
            await self.push_screen(RunScreen(await self.manager.get(run_id)))
        except RunNotFoundError as error:
            self.say(error)

    def show_runs(self) -> None:
        """The list of runs."""
        while not isinstance(self.screen, RunsScreen):
            self.pop_screen()

    def show_form(self, goal: str | None = None) -> None:
        """The form of a new run."""
        self.push_screen(FormScreen(goal))

    def show_started(self, run: Run) -> None:
        """A run that a form has started, in the form's place."""
        self.note_own(run)

        async def show() -> None:
            self.show_runs()
            cast("RunsScreen", self.screen).select(run.id)
            await self.show_run(run.id)

        self.run_worker(show())  # the form's own workers end with it

    def note_own(self, run: Run) -> None:
        """This run was started, or gone on with, here."""
        self._own[run.id] = run

    def note(self, text: str) -> None:
        """Show a line for a while."""
        self.notify(visible(text), timeout=_NOTE_S, markup=False)

    def say(self, error: Exception) -> None:
        """Show an error for a while."""
        message = str(error)
        if isinstance(error, RetraiError) and error.hint:
            message = f"{error.message}\n{error.hint}"
        self.notify(visible(message), severity="error", timeout=_NOTE_S, markup=False)

    # The end

    async def run_until_quit(self) -> None:
        """Show the screens until the user quits, or a signal comes: the terminal is given back."""
        with self._ended_by_signals():
            await self.run_async()

    @contextmanager
    def _ended_by_signals(self) -> Generator[None]:
        loop = asyncio.get_running_loop()
        handled = [number for number in _SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
        for number in handled:
            loop.add_signal_handler(number, self.exit)
        try:
            yield
        finally:
            for number in handled:
                loop.remove_signal_handler(number)

    async def left_behind(self) -> list[str]:
        """A line for each run that was started here and goes on, once it has really begun."""
        lines: list[str] = []
        for run in self._own.values():
            with suppress(TimeoutError, RetraiError):
                async with asyncio.timeout(_BEGIN_LIMIT_S):
                    async for _ in run.events():
                        break
            with suppress(RetraiError):
                if (record := await run.record()).status in NOT_ENDED:
                    lines.append(
                        f"run {run.id} goes on ({record.status}): `retrai tui {run.id}` shows it, "
                        f"`retrai runs cancel {run.id}` ends it"
                    )
        return lines
