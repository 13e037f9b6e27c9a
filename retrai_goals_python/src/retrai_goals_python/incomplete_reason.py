"""Says in one line why a run of pytest is not complete."""

from __future__ import annotations

import re
from collections.abc import Sequence

from retrai_core import Completed

from .case_outcomes import Session
from .report_lines import Finish

_WRONG_USE = re.compile(r"[\w./ -]*: error: ")
EXIT_MEANINGS = {
    2: "pytest was interrupted",
    3: "pytest had an internal error",
    4: "pytest cannot use an option, a target or a conftest.py",
}


def incomplete_reason(session: Session, done: Completed, timeout_s: float, damaged: int) -> str:
    """Why nobody knows how every case would have ended; empty when all do.

    Args:
        session: what the report says.
        done: how the process ended.
        timeout_s: the limit that the process had, in seconds.
        damaged: how many lines of the report could not be read.

    Example:
        >>> from .report_lines import Begin
        >>> session = Session(begin=Begin(kind="begin", pytest="9.0.0"))
        >>> killed = Completed(-9, "", "[ended by the sandbox: it used 9.0 GiB of memory]\\n")
        >>> print(incomplete_reason(session, killed, 60, 0).partition(", ")[0])
        pytest's process was ended by signal 9 [ended by the sandbox: it used 9.0 GiB of memory]
    """
    if session.forged:
        return f"pytest's report has {session.forged}"
    if done.timed_out:
        return f"pytest was still running after {timeout_s:g} s{_when_time_was_up(session)}"
    return _stopped_early(session) or (
        _no_finish(session, done)
        if session.finish is None
        else _bad_finish(session, session.finish, done, damaged)
    )


def _when_time_was_up(session: Session) -> str:
    if session.finish is not None:
        return "; all tests had ended, but a thread or a child process kept it alive"
    running = session.running()
    if running:
        return f"; running then: {_some(running)}"
    if session.last_started:
        return f"; no test was running, the last one was {session.last_started}"
    return "; no test had been started (it was collecting, or importing the project)"


def _stopped_early(session: Session) -> str:
    """pytest itself said that it stops."""
    if session.ended is None:
        return ""
    text = session.ended.text
    match session.ended.kind:
        case "stopped":
            return f"pytest stopped before it collected any test: {_first_line(text)}"
        case "interrupted":
            return f"pytest was stopped{_during(session)}: {_first_line(text)}"
        case "internal_error":
            return f"pytest or one of its plugins crashed: {_last_line(text)}"


def _no_finish(session: Session, done: Completed) -> str:
    how = _signal(done) if done.exit_code < 0 else f"ended with exit status {done.exit_code}"
    if session.begin is None or (done.exit_code == 4 and not session.cases):
        return f"pytest did not begin ({how}): {_said(done)}"
    return f"pytest's process {how}{_during(session)}, without the end of its report"


def _bad_finish(session: Session, finish: Finish, done: Completed, damaged: int) -> str:
    """The session ended, but not every case is known."""
    if done.exit_code < 0:
        return f"pytest's process {_signal(done)} after the last test"
    status = finish.exit_status
    if status not in (0, 1, 5):
        meaning = EXIT_MEANINGS.get(status, "pytest ended early")
        return f"{meaning} (exit status {status}): {_said(done)}"
    if running := session.running():
        return f"{_some(running)} began and did not end"
    if missing := session.not_run():
        total = len(session.collected)
        return f"{len(missing)} of {total} collected tests were not run: {_some(missing)}"
    return f"{damaged} lines of pytest's report cannot be read" if damaged else ""


def _signal(done: Completed) -> str:
    """Which signal ended the process, and what the sandbox said of it: its note comes last."""
    note = _last_line(done.stderr)
    told = f" {note}" if note.startswith("[") and note.endswith("]") else ""
    return f"was ended by signal {-done.exit_code}{told}"


def _during(session: Session) -> str:
    running = session.running()
    return f" while {_some(running)} ran" if running else ""


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


def _said(done: Completed) -> str:
    """The line that pytest itself calls the error; those beside it only explain it."""
    text = done.stderr or done.stdout
    lines = [line.strip() for line in text.splitlines()]
    wrong_use = (line for line in lines if _WRONG_USE.match(line))
    errors = (line for line in lines if line.startswith("ERROR: ") and "usage: " not in line)
    return next(wrong_use, next(errors, _last_line(text)))


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason given")


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no output")
