"""Make recorded calls again, for `GoalBase.replay_calls`: in a process in which no tests run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from retrai_core import Limits, RecordedCall, Sandbox, ToolError, fresh_folder

from .folders import bytes_of

MAX_BYTES = 50_000_000
"""Of the answers, so much is read."""
ModelT = TypeVar("ModelT", bound=BaseModel)


class _Answer(BaseModel):
    """A line of the player: the answer of a recorded call, by its number, or of a neighbor."""

    at: int = -1
    call: str = ""
    answer: str
    late: bool = False


async def play_calls(
    sandbox: Sandbox,
    command: Sequence[str],
    job: Mapping[str, object],
    calls: Sequence[RecordedCall],
    *,
    root: Path,
    timeout_s: float,
    env: Mapping[str, str] | None = None,
    readable: Sequence[Path] = (),
) -> list[RecordedCall]:
    """Let a player make calls again; those that it answered, and their neighbors.

    The player reads a JSON object from the job's file: what is in `job`, `root`, `calls` (the
    `replay` of each) and `answers`, the file that it writes. It writes an answer a line, as
    `{"at": 0, "answer": "3"}` for a call by its number, or as `{"call": "f(2)", "answer": "4"}` for
    one with other arguments. An empty answer is none. With `"late": true` a call may have one more,
    see `RecordedCall.late`.

    Args:
        sandbox: where it is started.
        command: the player's; the path of its job is the last argument.
        job: what it needs to know beside the calls.
        calls: as recorded; those without `replay` are left out.
        root: where it runs, without tests.
        timeout_s: wall-clock seconds.
        env: environment variables for it.
        readable: folders that it needs.
    """
    again = [each for each in calls if each.replay]
    if not again:
        return []
    given = {"root": str(root), "calls": [each.replay for each in again]}
    async with fresh_folder("tmp") as room:
        place, answers = room / "job", room / "answers"
        text = json.dumps({**job, **given, "answers": str(answers)})
        await asyncio.to_thread(place.write_text, text, encoding="utf-8")
        try:
            await sandbox.run(
                [*command, str(place)],
                timeout_s=timeout_s,
                cwd=root,
                env=env,
                limits=Limits(output_bytes=1000),
                writable=[room],
                readable=readable,
            )
            return list(await asyncio.to_thread(_answers, answers, again))
        except (ToolError, OSError):
            return []  # it was not started


def _answers(path: Path, calls: Sequence[RecordedCall]) -> Iterator[RecordedCall]:
    for found in json_lines(bytes_of(path, MAX_BYTES).splitlines(), _Answer):
        if found.at in range(len(calls)) and found.answer:
            yield replace(calls[found.at], answer=found.answer, late=found.late)
        elif found.call:
            yield RecordedCall("", found.call, found.answer)


def json_lines(lines: Iterable[str | bytes], model: type[ModelT]) -> Iterator[ModelT]:
    """The lines that are objects of a model; others are passed over, the half one at the end of a
    process that died among them.

    Example:
        >>> class Event(BaseModel):
        ...     name: str
        >>> list(json_lines(['{"name": "begun"}', "printed", '{"na'], Event))
        [Event(name='begun')]
    """
    for line in lines:
        with suppress(ValidationError):
            yield model.model_validate_json(line)
