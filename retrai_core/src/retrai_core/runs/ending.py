"""How a run ends: its outcome in the record, what to type next, what its author may want."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from ..settings import RunConfig
from .record import EXIT_CODES, RunRecord, Status


def config_of(record: RunRecord, changes: Mapping[str, object] | None = None) -> RunConfig:
    """The configuration that the run was made with, with what is given in `changes` instead."""
    given = {name: value for name, value in (changes or {}).items() if value is not None}
    return RunConfig.model_validate(record.config | given)


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


def _next_step(record: RunRecord) -> str:
    """What to type next, by outcome."""
    if record.status == "achieved":
        return f"retrai runs diff {record.id}" if record.changed_files else ""
    if record.status == "flaky":
        what = "make these cases steady, or leave them out of the check"
        return f"{what}, then retrai run {record.goal}; retrai runs show {record.id} names them"
    if record.status == "aborted":
        return f"retrai runs diff {record.id} shows what was changed; retrai run starts anew"
    if record.status == "interrupted":
        return f"retrai runs resume {record.id}"
    if record.status == "budget":
        return (
            f"retrai runs resume {record.id} with a higher --max-cost, --max-tokens or --max-time"
        )
    if record.status in ("failed", "stuck"):
        limit = config_of(record).max_iterations
        more = f" -n {limit + 20}" if record.iterations >= limit else ""
        again = "retrai run --model NAME takes another model"
        return f"retrai runs resume {record.id}{more} goes on; {again}"
    if record.status == "tampered":
        return f"retrai runs diff {record.id} shows it; retrai runs undo {record.id} takes it back"
    if record.status == "error" and record.iterations:
        return f"retrai runs resume {record.id} goes on"
    return f"retrai runs show {record.id}"
