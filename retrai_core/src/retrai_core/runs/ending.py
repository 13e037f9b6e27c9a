"""How a run ends: its outcome in the record, what to type next, what its author may want."""

from __future__ import annotations

import math
import re
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from ..errors import RetraiError
from ..settings import RunConfig, explained
from .record import EXIT_CODES, RunRecord, Status

# As `loop.budget` words why a call was not made: what is used, and what the call may need.
_REFUSED_COST = re.compile(r"\$([\d.]+) are spent, the next call may cost \$([\d.]+)")
_REFUSED_TOKENS = re.compile(r"(\d+) tokens are used, the next call may need (\d+)")
_REFUSED_TIME = re.compile(r"(\d+) s have passed, ([\d.e+-]+) s were allowed")
_SHOWN_TO_USD = 0.0001
"""A reason gives dollars to this many, so each may be a little more."""
_LEAST_TIME_S = 60.0
"""Less than this is hardly worth suggesting: one call of a model may take as long."""


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
    """The command that goes on with a limit that lets the refused call be made, with room."""
    again = f"retrai runs resume {record.id}"
    if "price is not known" in record.reason:
        return "retrai run --max-tokens N limits a model whose price is not known"
    if refused := _REFUSED_COST.search(record.reason):
        needed = sum(float(usd) + _SHOWN_TO_USD for usd in refused.groups())
        return f"{again} --max-cost {_with_room(needed):g}"
    if refused := _REFUSED_TOKENS.search(record.reason):
        needed = sum(int(tokens) for tokens in refused.groups())
        return f"{again} --max-tokens {_with_room(needed):.0f}"
    if refused := _REFUSED_TIME.search(record.reason):
        longest = max(float(seconds) for seconds in refused.groups())
        return f"{again} --max-time {max(_LEAST_TIME_S, _with_room(longest)):.0f}"
    return f"{again} with a higher --max-cost, --max-tokens or --max-time"


def _with_room(needed: float) -> float:
    """Twice what is needed, rounded up to two digits."""
    digits = 1 - math.floor(math.log10(2 * needed)) if needed else 0
    return round(math.ceil(2 * needed * 10.0**digits) / 10.0**digits, max(digits, 0))
