"""Turns a run's events into the entries of a timeline, each with what its detail pane shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any, cast

from rich.text import Text

from retrai_core import AgentEvent

from .text import block, diff_block, first_line, line_of, outcomes, seconds

_NAME_WIDTH = 11
_WAITING_FOR = {
    "plan": "waiting for the model",
    "act": "calling tools",
    "evaluate": "checking the goal",
    "human_check": "waiting for your answer",
}
_PHASES = {"baseline": "check", "final": "last check"}


@dataclass
class Entry:
    """One line of the timeline.

    Attributes:
        iteration: 1, 2, ...; 0 before the first.
        name: what acts: `model`, `check`, a tool's name.
        summary: what it did, in one line.
        style: the colour of the name.
        detail: what the detail pane shows.
        call_id: of a tool call, whose whole result can be fetched.
        is_emphasized: the line has the colour too.
    """

    iteration: int
    name: str
    summary: str
    style: str
    detail: list[Text] = field(default_factory=list[Text])
    call_id: str = ""
    is_emphasized: bool = False

    def line(self) -> Text:
        """The line."""
        text = line_of(f"{self.iteration or '':>3} ", "dim")
        text.append_text(line_of(f"{self.name:<{_NAME_WIDTH}} ", self.style))
        return text.append_text(line_of(self.summary, self.style if self.is_emphasized else ""))


class Timeline:
    """The entries so far.

    Attributes:
        entries: in their order.
        seq: the number of the last event.
        doing: what the run does now, in a few words.
        checks: the payload of each check, with its iteration.
        open_questions: the payloads of the questions that nobody has answered, by id.
        tokens, cost_usd: used so far.
        iterations: those that are complete.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.seq = 0
        self.doing = ""
        self.checks: list[tuple[int, Mapping[str, Any]]] = []
        self.open_questions: dict[str, Mapping[str, Any]] = {}
        self.tokens = 0
        self.cost_usd: float | None = None
        self.iterations = 0
        self._has_begun = False
        self._calls: dict[str, int] = {}
        self._readers: dict[str, Callable[[AgentEvent, Mapping[str, Any]], None]] = {
            "step_start": self._step_start,
            "tool_call": self._tool_call,
            "tool_result": self._tool_result,
            "llm_usage": self._llm_usage,
            "goal_check": self._goal_check,
            "human_check_required": self._asked,
            "human_check_response": self._answered,
            "iteration_complete": self._iteration_complete,
            "progress": self._progress,
            "run_end": self._run_end,
            "error": self._error,
            "log": self._log,
        }

    def add(self, event: AgentEvent) -> set[int]:
        """Take in an event; the indices of entries that are new or changed."""
        self.seq = event.seq
        before = len(self.entries)
        changed: set[int] = set()
        reader = self._readers.get(event.kind)
        if reader is not None:
            payload: Mapping[str, Any] = event.payload
            if event.kind == "tool_result":
                changed.add(self._calls.get(str(payload.get("id")), before))
            reader(event, payload)
        return changed | set(range(before, len(self.entries)))

    def _add(
        self,
        event: AgentEvent,
        name: str,
        summary: str,
        style: str,
        detail: Sequence[Text] = (),
        *,
        call_id: str = "",
        is_emphasized: bool = False,
    ) -> None:
        iteration = event.iteration + 1 if self._has_begun else 0
        entry = Entry(iteration, name, summary, style, list(detail), call_id, is_emphasized)
        self.entries.append(entry)

    def _step_start(self, event: AgentEvent, step: Mapping[str, Any]) -> None:
        self._has_begun = True
        node = str(step.get("node"))
        self.doing = _WAITING_FOR.get(node, node)
        if node not in _WAITING_FOR:
            self._add(event, "step", node, "dim")

    def _tool_call(self, event: AgentEvent, call: Mapping[str, Any]) -> None:
        summary = first_line(str(call.get("summary") or ""))
        tool = str(call.get("tool"))
        self.doing = f"{tool} {summary}".rstrip()
        self._calls[str(call.get("id"))] = len(self.entries)
        detail = [*_arguments(call.get("args")), Text("not finished", style="dim")]
        self._add(event, tool, f"{summary} ...", "cyan", detail, call_id=str(call.get("id")))

    def _tool_result(self, event: AgentEvent, result: Mapping[str, Any]) -> None:
        call_id = str(result.get("id"))
        index = self._calls.get(call_id)
        if index is None:
            index = len(self.entries)
            self._add(event, str(result.get("tool")), "", "cyan", call_id=call_id)
        entry = self.entries[index]
        took = seconds(float(result.get("duration_s") or 0))
        content = str(result.get("content") or "")
        entry.summary = f"{entry.summary.removesuffix(' ...')}  ({took})"
        if result.get("error"):
            entry.style = "yellow"
            entry.summary += f": {first_line(content)}"
        entry.detail = entry.detail[:-1]
        for change in result.get("changes") or ():
            entry.detail.append(diff_block(str(change.get("diff") or "")))
        entry.detail.append(block(content))

    def _llm_usage(self, event: AgentEvent, usage: Mapping[str, Any]) -> None:
        text = str(usage.get("text") or "")
        calls: Sequence[Mapping[str, Any]] = usage.get("tool_calls") or ()
        summary = first_line(text) or "calls " + ", ".join(str(call.get("name")) for call in calls)
        used = f"{usage.get('model')}: {int(usage.get('total_tokens') or 0):,} tokens"
        took = seconds(float(usage.get("duration_s") or 0))
        detail = [line_of(f"{used}, {took}", "dim"), block(text)] if text else []
        for call in calls:
            detail += [line_of(f"calls {call.get('name')}", "cyan"), *_arguments(call.get("args"))]
        name = "other model" if usage.get("beside") else "model"
        self._add(event, name, summary, "magenta", detail)

    def _goal_check(self, event: AgentEvent, check: Mapping[str, Any]) -> None:
        is_achieved = bool(check.get("achieved"))
        style = "green" if is_achieved else "red"
        counts = outcomes(check.get("counts") or {})
        summary = f"{'passes' if is_achieved else 'fails'}: {first_line(str(check.get('reason')))}"
        summary += f" ({counts})" if counts else ""
        summary += ", nothing changed" if check.get("remembered") else ""
        name = _PHASES.get(str(check.get("phase")), "check")
        self._add(event, name, summary, style, check_detail(check), is_emphasized=True)
        self.checks.append((self.entries[-1].iteration, check))

    def _asked(self, event: AgentEvent, payload: Mapping[str, Any]) -> None:
        question: Mapping[str, Any] = payload.get("question") or {}
        self.open_questions[str(question.get("id"))] = question
        text = str(question.get("text"))
        self._add(event, "asks", first_line(text), "yellow", [block(text)], is_emphasized=True)

    def _answered(self, event: AgentEvent, answer: Mapping[str, Any]) -> None:
        self.open_questions.pop(str(answer.get("question_id")), None)
        if self.doing == _WAITING_FOR["human_check"]:
            self.doing = "going on" if answer.get("approved") else "ending the run"
        summary = [str(answer[key]) for key in ("decision", "text") if answer.get(key)]
        self._add(
            event, "answer", ": ".join(summary), "green" if answer.get("approved") else "yellow"
        )

    def _iteration_complete(self, _: AgentEvent, done: Mapping[str, Any]) -> None:
        self.iterations = int(done.get("iteration") or 0)
        self.tokens = int(done.get("total_tokens") or 0)
        self.cost_usd = done.get("cost_usd")

    def _progress(self, event: AgentEvent, progress: Mapping[str, Any]) -> None:
        text = _in_words(progress.get("data"))
        self._add(event, str(progress.get("name")), first_line(text), "blue", [block(text)])

    def _run_end(self, event: AgentEvent, end: Mapping[str, Any]) -> None:
        self.open_questions.clear()
        self.doing = ""
        status, reason = str(end.get("status")), str(end.get("reason") or "")
        detail = [block(f"{status}: {reason}")]
        if next_step := str(end.get("next_step") or ""):
            detail.append(block(f"next: {next_step}"))
        style = "green" if status in ("achieved", "answered") else "yellow"
        self._add(
            event, "end", f"{status}: {first_line(reason)}", style, detail, is_emphasized=True
        )

    def _error(self, event: AgentEvent, error: Mapping[str, Any]) -> None:
        summary = f"{error.get('where')}: {error.get('error')}"
        self._add(event, "error", first_line(summary), "red", [block(summary)], is_emphasized=True)

    def _log(self, event: AgentEvent, log: Mapping[str, Any]) -> None:
        level, message = str(log.get("level")), str(log.get("message"))
        style = "yellow" if level == "warning" else "dim"
        self._add(event, level, first_line(message), style, [block(message)])


def check_detail(check: Mapping[str, Any]) -> list[Text]:
    """What a check found: the reason, and the failing cases with their text."""
    detail = [block(str(check.get("reason")), "green" if check.get("achieved") else "red")]
    if counts := outcomes(check.get("counts") or {}):
        detail.append(block(counts, "dim"))
    if text := str(check.get("details") or ""):
        detail += [Text(), block(text)]
    return detail


def _in_words(value: object) -> str:
    """What an agent reports, as lines: lists, `name: value`, and what is done."""
    if isinstance(value, Mapping):
        values = {str(name): one for name, one in cast("Mapping[object, object]", value).items()}
        done = values.get("done")
        rest = {name: one for name, one in values.items() if name != "done"}
        if isinstance(done, bool) and len(rest) == 1:
            return f"[{'x' if done else ' '}] {_in_words(next(iter(rest.values())))}"
        return "\n".join(
            f"{name}:\n{indent(_in_words(cast('object', one)), '  ')}"
            if isinstance(one, (Mapping, list))
            else f"{name}: {one}"
            for name, one in values.items()
            if one not in (None, "")
        )
    if isinstance(value, list):
        lines = [_in_words(one) for one in cast("list[object]", value)]
        return "\n".join(line if line.startswith("[") else f"- {line}" for line in lines)
    return "" if value is None else str(value)


def _arguments(args: object) -> list[Text]:
    """A tool call's arguments; text of several lines as it is."""
    if not isinstance(args, Mapping):
        return []
    shown: list[Text] = []
    values = cast("Mapping[object, object]", args)
    for name, value in values.items():
        text = value if isinstance(value, str) else json.dumps(value, default=str)
        if "\n" in text:
            shown += [line_of(f"{name}:", "bold"), block(text)]
        else:
            shown.append(line_of(f"{name}: ", "bold").append_text(line_of(text)))
    return shown
