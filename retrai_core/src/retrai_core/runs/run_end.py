"""Ends a run: writes the outcome into the record, with the command to type next."""

from __future__ import annotations

import math
import re
import shlex
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from ..config.files import NO_LIMIT
from ..config.model import RunConfig, explained
from ..contracts.record import EXIT_CODES, Limits, RunRecord, Status
from ..workspace.file_system import is_read_only

_LEAST_TIME_S = 60.0
"""Less than this is hardly worth suggesting: one call of a model may take as long."""
_LEAST_TOKENS = 100_000
"""Less would end a run of a few iterations; for a model whose price nobody knows."""

_OF_CHECK = re.compile(r"(.+?)(?:: changed, but it)? belongs to the check")
_FLAGS = {"max_cost_usd": "--max-cost", "max_tokens": "--max-tokens", "max_time_s": "--max-time"}


def config_of(record: RunRecord, changes: Mapping[str, object] | None = None) -> RunConfig:
    """The configuration that the run was made with, with what is given in `changes` instead.

    Raises:
        UsageError: a given value is none that the setting may have.
    """
    given = {name: value for name, value in (changes or {}).items() if value is not None}
    try:
        return RunConfig.model_validate(record.config | given)
    except ValidationError as error:
        raise explained(error, {}) from error


def limits_of(config: RunConfig) -> Limits:
    """What the configuration lets a run use."""
    return Limits(
        max_iterations=config.max_iterations,
        max_cost_usd=config.max_cost_usd,
        max_tokens=config.max_tokens,
        max_time_s=config.max_time_s,
    )


def keep_traceback(error: BaseException, folder: Path, redact: Callable[[str], str]) -> None:
    """For whoever fixes it: people read one line, authors of plugins want the rest."""
    with suppress(OSError):
        text = redact("".join(traceback.format_exception(error)))
        (folder / "error.txt").write_text(text, encoding="utf-8", errors="backslashreplace")


def finish(record: RunRecord, outcome: Status, reason: str) -> None:
    """Put into the record how and when the run ended; the caller saves it."""
    record.status, record.reason = outcome, reason
    record.ended_at = time.time()
    record.exit_code = EXIT_CODES[outcome]
    record.next_step = _next_step(record)
    if record.hand_over is not None:
        record.hand_over.command = _command_to_go_on(record)


def _command_to_go_on(record: RunRecord) -> str:
    """The command that goes on with the work; a new run where this one cannot go on."""
    if record.status == "budget":
        return _more_budget(record)
    if record.resumable and not record.gave_up:
        return f"retrai runs resume {record.id}{_more_iterations(record)}"
    return f"{_new_run(record)}{' --model NAME' if record.gave_up else ''}"


def _new_run(record: RunRecord, folder: str = "") -> str:
    """The command that starts anew, in a folder, or else in the same project."""
    command = f"retrai run {record.goal}".rstrip()
    with suppress(OSError):  # the current folder may be gone
        if not folder and Path.cwd() == record.project:
            return command
    return f"{command} -C {folder or shlex.quote(str(record.project))}"


def _next_step(record: RunRecord) -> str:
    """What to type next, by outcome."""
    run = record.id
    if record.status == "failed" and record.project.is_dir() and is_read_only(record.project):
        copied = f"cp -r {shlex.quote(str(record.project))} COPY"
        anew = _new_run(record, "COPY")
        return f"{copied}; {anew} works in a copy that can be written to"
    if record.status in ("failed", "stuck"):
        steps = [f"retrai runs resume {run}{_more_iterations(record)} goes on"]
        if record.gave_up:  # and would say so once more
            steps = []
        if record.changed_files:
            steps.append(f"retrai runs undo {run} takes back what it changed")
        another = f"{_new_run(record)} --model NAME takes another model"
        return "; ".join([*steps, another]) + _leave_to_edit(record)
    if record.status == "achieved" and not record.changed_files:
        return f"retrai runs show {run}"
    if record.status == "error" and record.iterations:
        return f"retrai runs resume {run}{_more_iterations(record)} goes on"
    if record.status == "aborted" and not record.changed_files:
        return f"{_new_run(record)} starts anew"
    steady = "make these cases steady, or leave them out of the check"
    fixed = {
        "answered": f"retrai runs {'diff' if record.changed_files else 'show'} {run}",
        "achieved": f"retrai runs diff {run}",
        "interrupted": f"retrai runs resume {run}",
        "budget": _more_budget(record),
        "flaky": f"{steady}, then {_new_run(record)}; retrai runs show {run} names them",
        "aborted": f"retrai runs diff {run} shows what was changed; {_new_run(record)} starts anew",
        "tampered": f"retrai runs diff {run} shows it; retrai runs undo {run} takes it back"
        + _leave_to_edit(record),
    }
    return fixed.get(record.status, f"retrai runs show {run}")


def _leave_to_edit(record: RunRecord) -> str:
    """How to let a run change the first file of the check that this one might not change."""
    found = next(filter(None, map(_OF_CHECK.match, record.refused)), None)
    return f"; `allow_edit: [{found[1]}]` in .retrai.yml lets a run change it" if found else ""


def _more_iterations(record: RunRecord) -> str:
    limit = config_of(record).max_iterations
    return f" -n {limit + 20}" if record.iterations >= limit else ""


def _more_budget(record: RunRecord) -> str:
    """The command that goes on with a limit that lets the refused call be made, with room."""
    again = f"retrai runs resume {record.id}{_more_iterations(record)}"
    needed = record.needed
    if needed is None:  # an agent of somebody else may say no more than that it is spent
        return f"{again} with a higher --max-cost, --max-tokens or --max-time"
    flag = _FLAGS[needed.limit]
    if needed.at_least is None:
        without = f"{again} {flag} {NO_LIMIT}"
        if config_of(record).max_tokens is not None:
            return without
        tokens = max(_LEAST_TOKENS, _with_room(record.tokens.total))
        return f"{without} {_FLAGS['max_tokens']} {tokens:.0f}"
    more = _with_room(needed.at_least)
    if needed.limit == "max_time_s":
        more = max(_LEAST_TIME_S, more)
    figure = f"{more:g}" if needed.limit == "max_cost_usd" else f"{more:.0f}"
    return f"{again} {flag} {figure}"


def _with_room(needed: float) -> float:
    """Twice what is needed, rounded up to two digits."""
    digits = 1 - math.floor(math.log10(2 * needed)) if needed else 0
    return round(math.ceil(2 * needed * 10.0**digits) / 10.0**digits, max(digits, 0))
