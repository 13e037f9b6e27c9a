"""Prints a run's lines as they arrive, with a spinner below them on a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.segment import Segment
from rich.spinner import Spinner
from rich.text import Text

from ...events import AgentEvent
from ..output import visible
from .lines import EventLines
from .words import seconds

PLAIN_WIDTH = 100
_REFRESH_PER_SECOND = 8


class _LastingConsole(Console):
    """Shows control characters as text, and stops printing when nobody reads the output any more.

    rich's own lets escapes through, and would end the program at `| head`.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As rich does it; only its own control sequences and styles are no text."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(visible(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """The run goes on, and its log has every line."""
        self.quiet = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.file.fileno())
        os.close(nowhere)


def make_console(*, stderr: bool = False) -> Console:
    """The console for people: standard output, or standard error where that carries a record.

    Off a terminal, and with `NO_COLOR`, it writes plain text.
    """
    stream = sys.stderr if stderr else sys.stdout
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        # A terminal that cannot show a letter shows `?` instead of ending the run.
        reconfigure(errors="replace")
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    watched = stream.isatty() and not plain
    return _LastingConsole(
        file=stream,
        force_terminal=watched,
        no_color=not watched,
        width=None if stream.isatty() else PLAIN_WIDTH,
        highlight=False,
        markup=False,
        soft_wrap=not watched,
    )


class RunTerminal:
    """Shows one run; a context manager that removes its spinner at the end.

    Args:
        console: where to print.

    Attributes:
        has_open_line: a prompt stands on the last line; what comes next gets a line of its own.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.has_open_line = False
        self.lines = EventLines(console.width, cuts=console.is_terminal)
        self._since = time.monotonic()
        self._spinner = Spinner("dots")
        self._live = (
            Live(
                console=console,
                transient=True,
                get_renderable=self._waiting,
                refresh_per_second=_REFRESH_PER_SECOND,
            )
            if console.is_terminal
            else None
        )

    def __enter__(self) -> RunTerminal:
        self.resume()
        return self

    def __exit__(self, *_: object) -> None:
        self.pause()

    def hear(self, event: AgentEvent) -> None:
        """Print what one event is worth."""
        before = self.lines.waiting_for
        for line in self.lines.write(event):
            self._end_line()
            self.console.print(line)
        if self.lines.waiting_for != before or event.kind in ("step_start", "tool_call"):
            self._since = time.monotonic()

    def say(self, text: str, style: str = "") -> None:
        """Print one line of retrai's own."""
        self._end_line()
        self.console.print(Text(visible(text), style=style))

    def prompt(self, text: str) -> None:
        """Print what is answered on the same line."""
        self.console.print(text, end="", markup=False)
        self.has_open_line = True

    def _end_line(self) -> None:
        if self.has_open_line:
            self.console.print()
            self.has_open_line = False

    def pause(self) -> None:
        """Take the spinner away, so that something else can use the last line."""
        if self._live is not None and self._live.is_started:
            self._live.stop()

    def resume(self) -> None:
        """Show the spinner again."""
        self._end_line()
        if self._live is not None and not self._live.is_started:
            self._live.start()

    def _waiting(self) -> RenderableType:
        waited = seconds(time.monotonic() - self._since)
        self._spinner.update(
            text=Text(f"{self.lines.waiting_for}, {waited}   {self.lines.used()}", style="dim")
        )
        return self._spinner
