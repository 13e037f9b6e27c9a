"""Makes a `PytestRun` of the report, of the stacks at a time-out, and of how the process ended.

Where a run is not complete, it says why in one line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from retrai_core import CaseOutcome, Completed

from .case_outcomes import Session, read_session
from .failure_text import FailureWriter
from .report_lines import Finish, read_lines
from .run import PytestRun

TAIL_CHARS = 3000
MAX_STACK_BYTES = 200_000
_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$')
# faulthandler writes ASCII only.
_ESCAPED = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")
_WRONG_USE = re.compile(r"[\w./ -]*: error: ")
EXIT_MEANINGS = {
    2: "pytest was interrupted",
    3: "pytest had an internal error",
    4: "pytest cannot use an option, a target or a conftest.py",
}


def make_run(
    data: bytes,
    done: Completed,
    cwd: Path,
    command: tuple[str, ...],
    timeout_s: float,
    max_chars_per_failure: int,
    folder: Path,
) -> PytestRun:
    """What the report and the process's end say together.

    Args:
        data: the report's bytes; empty when there is none.
        done: how the process ended.
        cwd: where it ran; sources are read from here.
        command: the interpreter and what it was given, without what is only retrai's.
        timeout_s: the limit that the process had, in seconds.
        max_chars_per_failure: the longest text of one failure, in characters.
        folder: where the reporter kept its `stacks*.txt`.
    """
    lines, damaged = read_lines(data)
    session = read_session(lines)
    problem = incomplete_reason(session, done, timeout_s, damaged)
    cases: dict[str, CaseOutcome] = {
        name: case.final_outcome for name, case in session.cases.items()
    }
    writer = FailureWriter(cwd, max_chars_per_failure, _read_stacks(folder))
    tail = (done.stdout.rstrip() + "\n" + done.stderr.rstrip()).strip()[-TAIL_CHARS:]
    return PytestRun(
        cases=cases,
        failures=tuple(
            writer.write(name, case)
            for name, case in session.cases.items()
            if cases[name] in ("failed", "error")
        ),
        complete=not problem,
        exit_status=done.exit_code,
        command=command,
        interpreter=command[0],
        duration_s=done.duration_s,
        problem=problem,
        deselected=session.finish.deselected if session.finish else 0,
        output_tail=tail,
        pytest_version=session.begin.pytest if session.begin else "",
        imported_from=tuple(session.finish.imported) if session.finish else (),
        calls=session.calls,
    )


def _read_stacks(folder: Path) -> list[tuple[str, int, str]]:
    """The frames of the main threads, outermost first: file, line, function.

    Args:
        folder: it has a `stacks*.txt` for each process.
    """
    frames: list[tuple[str, int, str]] = []
    for path in sorted(folder.glob("stacks*.txt")):
        text = path.read_bytes()[:MAX_STACK_BYTES].decode("utf-8", "replace")
        # faulthandler gives the innermost frame first; the main thread is where the signal arrives.
        _, _, main = text.rpartition("Current thread")
        found = [_FRAME.match(line) for line in main.splitlines()]
        frames += [
            (_unescape(one[1]), int(one[2]), _unescape(one[3]))
            for one in reversed(found)
            if one is not None
        ]
    return frames


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1] or found[2] or found[3], 16)), text)


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
    shown = f" {note}" if note.startswith("[") and note.endswith("]") else ""
    return f"was ended by signal {-done.exit_code}{shown}"


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
