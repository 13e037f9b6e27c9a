"""Reads retrai's own run log: the `llm_usage` events of an `events.jsonl`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, JsonValue, ValidationError

from retrai_core import AgentEvent

from .recording import Decision, NotARecordingError, RecordedCall, Recording

LOG_NAME = "events.jsonl"
RECORD_NAME = "run.json"


class LoggedCall(BaseModel):
    id: str = ""
    name: str
    args: dict[str, JsonValue]


class LoggedAnswer(BaseModel):
    text: str = ""
    tool_calls: list[LoggedCall] = []
    finish_reason: str | None = None


class RunProject(BaseModel):
    project: str = ""


def read_run_log(path: Path) -> Recording:
    """The decisions in a run log.

    Args:
        path: an `events.jsonl`; the `run.json` beside it, where there is one, names the project.

    Raises:
        NotARecordingError: a line is not an event; the message names the line.
        OSError: the file cannot be read.
    """
    events, warnings = read_events(path)
    answers = [
        (position, parse_answer(event, path))
        for position, event in enumerate(events)
        if event.kind == "llm_usage" and not event.payload.get("beside")
    ]
    decisions = [
        Decision(
            text=answer.text,
            calls=tuple(RecordedCall(name=call.name, args=call.args) for call in answer.tool_calls),
            finish_reason=answer.finish_reason,
        )
        for index, (position, answer) in enumerate(answers)
        if not was_cut_off(events, position, answers[index + 1 : index + 2], answer)
    ]
    return Recording(
        decisions=tuple(decisions),
        project_paths=recorded_project(path.with_name(RECORD_NAME)),
        warnings=tuple(warnings),
    )


def read_events(path: Path) -> tuple[list[AgentEvent], list[str]]:
    """Every event of the log, and what was odd about the file."""
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = text.split("\n")
    events: list[AgentEvent] = []
    warnings: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            events.append(AgentEvent.from_json(line))
        except (ValueError, KeyError, TypeError) as error:
            # Only a killed run leaves a last line without its line end; nothing else is forgiven.
            if number == len(lines) and events:
                warnings.append(f"{path}: the last line is cut off and is left out")
                continue
            raise NotARecordingError(f"line {number} is not an event of a run log") from error
    return events, warnings


def parse_answer(event: AgentEvent, path: Path) -> LoggedAnswer:
    try:
        return LoggedAnswer.model_validate(dict(event.payload))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise NotARecordingError(
            f"an llm_usage event has no usable {where} ({first['msg']})"
        ) from error


def was_cut_off(
    events: Sequence[AgentEvent],
    position: int,
    following: Sequence[tuple[int, LoggedAnswer]],
    answer: LoggedAnswer,
) -> bool:
    """Whether the run was killed before this answer counted, and the model was asked again.

    Then the same iteration has a later answer, and none of this one's calls was ever made.
    """
    if not following:
        return False
    next_position = following[0][0]
    if events[next_position].iteration != events[position].iteration or not answer.tool_calls:
        return False
    ids = {call.id for call in answer.tool_calls}
    between = events[position + 1 : next_position]
    return not any(
        event.kind in ("tool_call", "tool_result") and event.payload.get("id") in ids
        for event in between
    )


def recorded_project(record: Path) -> tuple[str, ...]:
    """The project that the run worked in, from its `run.json`; nothing where that is missing."""
    if not record.is_file():
        return ()
    try:
        project = RunProject.model_validate_json(record.read_bytes()).project
    except ValueError as error:
        raise NotARecordingError(f"{record.name} beside it is not a run record") from error
    return (project,) if project.startswith("/") else ()
