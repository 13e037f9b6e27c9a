"""How a run ends: its outcome in the record, what to type next, what its author may want."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from ..errors import RetraiError
from ..settings import RunConfig, explained
from .record import EXIT_CODES, RunRecord, Status


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


def keep_traceback(error: BaseException, folder: Path, redact: Callable[[str], str]) -> None:
    """For whoever mends it: people read one line, authors of plugins want the rest."""
    with suppress(OSError):
        text = redact("".join(traceback.format_exception(error)))
        (folder / "error.txt").write_text(text, encoding="utf-8", errors="backslashreplace")


def finish(record: RunRecord, outcome: Status, reason: str) -> None:
    """Put into the record how and when the run ended; the caller saves it."""
    record.status, record.reason = outcome, reason
    record.ended_at = time.time()
    record.exit_code = EXIT_CODES[outcome]
    record.next_step = _next_step(record)


def save_or_explain(record: RunRecord, folder: Path) -> None:
    """Save the record of a run that has ended.

    Raises:
        RetraiError: it cannot be written, with how the run ended.
    """
    try:
        record.save(folder)
    except OSError as error:
        raise RetraiError(
            f"the run ended as {record.status} ({record.reason}), and its record cannot be "
            f"written: {error.strerror or error} ({folder})",
            hint=f"make room; `retrai runs resume {record.id}` goes on",
        ) from error


def _next_step(record: RunRecord) -> str:
    """What to type next, by outcome."""
    run = record.id
    if record.status in ("failed", "stuck"):
        limit = config_of(record).max_iterations
        more = f" -n {limit + 20}" if record.iterations >= limit else ""
        again = "retrai run --model NAME takes another model"
        return f"retrai runs resume {run}{more} goes on; {again}"
    if record.status == "achieved" and not record.changed_files:
        return f"retrai verify {run}" if record.receipt else ""
    if record.status == "error" and record.iterations:
        return f"retrai runs resume {run} goes on"
    steady = "make these cases steady, or leave them out of the check"
    fixed = {
        "achieved": f"retrai runs diff {run}",
        "interrupted": f"retrai runs resume {run}",
        "budget": _more_budget(record),
        "flaky": f"{steady}, then retrai run {record.goal}; retrai runs show {run} names them",
        "aborted": f"retrai runs diff {run} shows what was changed; retrai run starts anew",
        "tampered": f"retrai runs diff {run} shows it; retrai runs undo {run} takes it back",
    }
    return fixed.get(record.status, f"retrai runs show {run}")


def _more_budget(record: RunRecord) -> str:
    """The command that goes on with twice what was allowed."""
    config = config_of(record)
    again = f"retrai runs resume {record.id}"
    if "price is not known" in record.reason:
        return "retrai run --max-tokens N limits a model whose price is not known"
    if "$" in record.reason and config.max_cost_usd:
        return f"{again} --max-cost {2 * config.max_cost_usd:g}"
    if "tokens" in record.reason and config.max_tokens:
        return f"{again} --max-tokens {2 * config.max_tokens}"
    if "s have passed" in record.reason and config.max_time_s:
        return f"{again} --max-time {config.max_time_s:g}"
    return f"{again} with a higher --max-cost, --max-tokens or --max-time"
