"""Turns a run's events into lines: iteration, action, target and duration."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from rich.text import Text

from ...events import WORTH_A_LOOK, AgentEvent
from ..output import visible_name
from .words import cost, count, one_line, outcome_counts, seconds

NAME_WIDTH = 12
TIME_WIDTH = 11
_LONGEST = 2_000
_MARGIN = 6 + NAME_WIDTH + 1 + TIME_WIDTH
_FAILED = re.compile(r"exit code [1-9]\d*$", re.MULTILINE)
_YOUR_ANSWER = "waiting for your answer"


class EventLines:
    """Remembers what is in progress, and returns the lines for each event.

    Args:
        width: the line's width in characters.
        cuts: whether what is longer is cut, as on a terminal; elsewhere the whole line says more.
    """

    def __init__(self, width: int, *, cuts: bool = True) -> None:
        self._room = max(20, width - _MARGIN)
        self._longest = self._room if cuts else _LONGEST
        self._tokens = 0
        self._cost_usd: float | None = None
        self.waiting_for = "starting"
        """What the run is doing now, in a few words."""
        self._begun = False
        self._calls: dict[str, str] = {}
        self._writers: dict[str, Callable[[AgentEvent], list[Text]]] = {
            "step_start": self._step_start,
            "tool_call": self._tool_call,
            "tool_result": self._tool_result,
            "llm_usage": self._llm_usage,
            "goal_check": self._goal_check,
            "human_check_response": self._human_answer,
            "iteration_complete": self._iteration_complete,
            "error": self._error,
            "log": self._log,
        }

    def write(self, event: AgentEvent) -> list[Text]:
        """The lines for one event, none where it only changes what is waited for."""
        writer = self._writers.get(event.kind)
        return writer(event) if writer else []

    def _step_start(self, event: AgentEvent) -> list[Text]:
        self._begun = True
        self.waiting_for = {
            "plan": "waiting for the model",
            "act": "acting",
            "evaluate": "checking the goal",
            "human_check": _YOUR_ANSWER,
        }.get(str(event.payload["node"]), str(event.payload["node"]))
        return []

    def _tool_call(self, event: AgentEvent) -> list[Text]:
        call = event.payload
        self._calls[str(call["id"])] = str(call["summary"])
        self.waiting_for = (
            f"{visible_name(str(call['tool']))} {one_line(str(call['summary']), 40)}".rstrip()
        )
        return []

    def _tool_result(self, event: AgentEvent) -> list[Text]:
        result = event.payload
        argument = self._calls.pop(str(result["id"]), "")
        if result.get("replayed"):
            argument = f"{argument} (done before the run was resumed)".lstrip()
        if failed := _FAILED.match(str(result["content"])):
            argument = f"{failed[0]}: {argument}".removesuffix(": ")
        style = "yellow" if result["error"] else "cyan"
        lines = [
            self._line(event, str(result["tool"]), argument, result["duration_s"], style=style)
        ]
        if result["error"]:
            lines.append(self._note(str(result["content"]), "yellow"))
        return lines

    def _llm_usage(self, event: AgentEvent) -> list[Text]:
        usage = event.payload
        if usage.get("beside"):
            said = f"{usage['model']} is asked ({usage['total_tokens']} tokens)"
            return [self._line(event, "beside", said, usage["duration_s"], style="magenta")]
        said = str(usage["text"] or "")
        if not said:
            said = "calls " + ", ".join(str(call["name"]) for call in usage["tool_calls"])
        return [self._line(event, "model", said, usage["duration_s"], style="magenta")]

    def _goal_check(self, event: AgentEvent) -> list[Text]:
        check = event.payload
        verdict, style = ("holds", "green") if check["achieved"] else ("fails", "red")
        counts = outcome_counts(check["counts"])
        said = f"{verdict}: {check['reason']}"
        if counts:
            said += f" ({counts})"
        if check.get("remembered"):
            said += ", nothing changed"
        name = {"baseline": "check", "final": "last check"}.get(str(check["phase"]), "check")
        return [self._line(event, name, said, check["duration_s"], style=style, loud=True)]

    def _human_answer(self, event: AgentEvent) -> list[Text]:
        given = event.payload
        if self.waiting_for == _YOUR_ANSWER:
            self.waiting_for = "going on" if given["approved"] else "ending the run"
        style = "green" if given["approved"] else "yellow"
        said = given.get("decision") or given.get("response")  # that of retrai 0.1
        words = [str(part) for part in (said, given.get("text")) if part]
        return [self._line(event, "you", ": ".join(words), None, style=style)]

    def _iteration_complete(self, event: AgentEvent) -> list[Text]:
        self._tokens, self._cost_usd = event.payload["total_tokens"], event.payload["cost_usd"]
        return []

    def _error(self, event: AgentEvent) -> list[Text]:
        where: Mapping[str, Any] = event.payload
        said = f"{where['where']}: {where['error']}"
        return [self._line(event, "error", said, None, style="red", whole=True)]

    def _log(self, event: AgentEvent) -> list[Text]:
        level = str(event.payload["level"])
        style = "yellow" if level == "warning" else "dim"
        said = str(event.payload["message"])
        if said.startswith(WORTH_A_LOOK):  # the summary at the end has it
            return []
        return [self._line(event, level, said, None, style=style, whole=True)]

    def used(self) -> str:
        """Tokens and cost so far."""
        return f"{count(self._tokens, 'token')}, {cost(self._cost_usd, self._tokens)}"

    def _line(
        self,
        event: AgentEvent,
        name: str,
        argument: str,
        duration_s: float | None,
        *,
        style: str,
        loud: bool = False,
        whole: bool = False,
    ) -> Text:
        said = one_line(argument, _LONGEST if whole else self._longest)
        # People count from one; what comes before the first iteration belongs to none.
        iteration = event.iteration + 1 if self._begun else ""
        line = Text(no_wrap=not whole)
        line.append(f"{iteration:>4}  ", style="dim")
        line.append(f"{visible_name(name):<{NAME_WIDTH}} ", style=style)
        line.append(said, style=style if loud else "")
        if duration_s is not None:
            line.append(" " * (self._room - len(said)))
            line.append(f" {seconds(duration_s):>{TIME_WIDTH - 1}}", style="dim")
        return line

    def _note(self, text: str, style: str) -> Text:
        return Text(
            " " * (7 + NAME_WIDTH) + one_line(text, self._longest), style=style, no_wrap=True
        )
