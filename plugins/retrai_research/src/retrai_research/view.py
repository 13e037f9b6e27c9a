"""Shows a run of the agent on standard error while it works, and its answer on standard output."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Self, TextIO, cast

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.spinner import Spinner
from rich.text import Text

from retrai_core import AgentEvent, RunRecord, echo, visible

_PLAIN_WIDTH = 100
_REFRESH_PER_SECOND = 8
_LONGEST = 160


def make_console(stream: TextIO) -> Console:
    """A console; plain text where nobody sees colours."""
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
    return Console(
        file=stream,
        force_terminal=is_terminal,
        no_color=plain,
        width=None if stream.isatty() else _PLAIN_WIDTH,
        highlight=False,
        markup=False,
        soft_wrap=not is_terminal,
    )


class AskView:
    """A context manager: on a terminal it keeps the plan below the lines.

    Args:
        verbose: print each update of the state.
    """

    def __init__(self, *, verbose: bool) -> None:
        self._verbose = verbose
        self._console = make_console(sys.stderr)
        self._plan: list[tuple[str, bool]] = []
        self._calls: dict[str, str] = {}
        self._doing = "starting"
        self._spinner = Spinner("dots")
        self._live = (
            Live(
                console=self._console,
                transient=True,
                get_renderable=self._below,
                refresh_per_second=_REFRESH_PER_SECOND,
            )
            if self._console.is_terminal
            else None
        )

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, text: str, style: str = "") -> None:
        """Print a line."""
        self._console.print(Text(visible(text), style=style))

    def hear(self, event: AgentEvent) -> None:
        """Show an event."""
        given = event.payload
        if event.kind == "step_start":
            self._doing = str(given["node"])
        elif event.kind == "tool_call":
            self._calls[str(given["id"])] = str(given["summary"])
            self._doing = _line(f"{given['tool']} {given['summary']}")
        elif event.kind == "tool_result":
            self._tool_result(given)
        elif event.kind == "progress":
            self._progress(str(given["name"]), cast("Mapping[str, Any]", given["data"]))
        elif event.kind == "log":
            self.say(str(given["message"]), "yellow" if given["level"] == "warning" else "dim")
        elif event.kind == "error":
            self.say(f"error: {given['error']}", "red")

    def _tool_result(self, given: Mapping[str, Any]) -> None:
        summary = self._calls.pop(str(given["id"]), "")
        failed = f": {given['content']}" if given["error"] else ""
        again = " (done before the run was resumed)" if given.get("replayed") else ""
        line = _line(f"{given['tool']} {summary}{again}{failed}")
        self.say(f"  {line}  {given['duration_s']:.1f} s", "yellow" if failed else "cyan")

    def _progress(self, name: str, data: Mapping[str, Any]) -> None:
        if name == "plan":
            steps = cast("Sequence[Mapping[str, Any]]", data["steps"])
            self._take_plan([(str(each["step"]), bool(each["done"])) for each in steps])
        elif name == "finding":
            self.say(f"  found: {_line(str(data['text']))}")
        elif name == "state" and self._verbose:
            update = json.dumps(data["update"], ensure_ascii=False)
            self.say(f"{data['node']}: {update}", "dim")

    def _take_plan(self, plan: list[tuple[str, bool]]) -> None:
        """Keep it; print what is new in it, where there is no plan below the lines."""
        before = self._plan
        self._plan = plan
        is_new = [step for step, _ in plan] != [step for step, _ in before]
        for number, (step, done) in enumerate(plan):
            was_done = not is_new and before[number][1]
            if (self._live is None and is_new) or (done and not was_done):
                self.say(_step(step, done=done), "green" if done else "")

    def _below(self) -> Text:
        frame = self._spinner.render(self._console.get_time())
        lines = [_step(visible(step), done=done) for step, done in self._plan]
        first = frame.plain if isinstance(frame, Text) else ""
        return Text("\n".join([*lines, f"{first} {visible(self._doing, keep='')}"]), no_wrap=True)


def show_answer(record: RunRecord) -> None:
    """Print the answer on standard output, and how the run ended on standard error."""
    console = make_console(sys.stdout)
    if record.output:
        if console.is_terminal:
            console.print(Markdown(visible(record.output)))
        else:
            echo(record.output)
    ended = make_console(sys.stderr)
    ended.print(Text(visible(f"\nrun {record.id}: {record.status}: {record.reason}"), style="dim"))
    if record.status != "answered" and record.next_step:
        ended.print(Text(visible(f"next: {record.next_step}"), style="dim"))


def _step(step: str, *, done: bool) -> str:
    return f"[{'x' if done else ' '}] {step}"


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
