"""Makes a `PytestRun` of the report and of how the process ended."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from retrai_core import CaseOutcome, Completed, ToolError

from .case_outcomes import Case, Session, read_session
from .failure_text import FailureWriter
from .pytest_run import Failure, PytestRun
from .report_lines import read_lines

TAIL_CHARS = 3000
EXIT_MEANINGS = {
    2: "pytest was interrupted",
    3: "pytest had an internal error",
    4: "pytest was used wrongly (an unknown option, a target or a conftest.py that cannot be loaded)",
}


def make_run(
    data: bytes,
    done: Completed | ToolError,
    cwd: Path,
    python: str,
    arguments: Sequence[str],
    timeout_s: float,
    max_chars_per_failure: int,
) -> PytestRun:
    """What the report and the process's end say together.

    Args:
        data: the report's bytes; empty when there is none.
        done: how the process ended, or why it could not be started.
        cwd: where it ran; sources are read from here.
        python: the interpreter.
        arguments: what pytest was given.
        timeout_s: the limit that the process had, in seconds.
        max_chars_per_failure: the longest text of one failure, in characters.
    """
    command = (python, "-m", "pytest", *arguments)
    if isinstance(done, ToolError):
        problem = f"{python} cannot be run: {done}"
        return PytestRun({}, (), False, -1, command, python, 0.0, problem)
    lines, damaged = read_lines(data)
    session = read_session(lines)
    running = session.running()
    problem = _problem(session, done, timeout_s, damaged, running)
    cases = _outcomes(session)
    tail = (done.stdout.rstrip() + "\n" + done.stderr.rstrip()).strip()[-TAIL_CHARS:]
    return PytestRun(
        cases=cases,
        failures=_failures(session, cases, problem, FailureWriter(cwd, max_chars_per_failure)),
        complete=not problem,
        exit_status=done.exit_code,
        command=command,
        interpreter=python,
        duration_s=done.duration_s,
        problem=problem,
        last_started=session.last_started,
        running=tuple(running),
        collected=session.collected,
        deselected=session.deselected,
        durations={name: case.duration_s for name, case in session.cases.items()},
        skip_reasons={
            name: case.reason
            for name, case in session.cases.items()
            if cases[name] in ("skipped", "xfailed", "xpassed")
        },
        output_tail=tail,
        pytest_version=session.begin.pytest if session.begin else "",
        python_version=session.begin.python if session.begin else "",
    )


def _outcomes(session: Session) -> dict[str, CaseOutcome]:
    """Cases that were cut off count as errors: nobody knows how they would have ended."""
    return {
        name: case.outcome if case.finished and case.outcome else "error"
        for name, case in session.cases.items()
    }


def _failures(
    session: Session, cases: dict[str, CaseOutcome], problem: str, writer: FailureWriter
) -> tuple[Failure, ...]:
    found: list[Failure] = []
    for name, outcome in cases.items():
        case: Case = session.cases[name]
        if case.problems:
            found.append(writer.write(name, outcome, case))
        elif outcome in ("failed", "error"):
            said = f"it did not end: {problem}" if problem else "it did not end"
            found.append(Failure(name, outcome, "", said, said))
    return tuple(found)


def _problem(
    session: Session, done: Completed, timeout_s: float, damaged: int, running: Sequence[str]
) -> str:
    """One line that says why the run is not complete; empty when it is."""
    during = f" while {_some(running)} ran" if running else ""
    if done.timed_out:
        where = f"; running then: {_some(running)}" if running else _not_in_a_test(session)
        return f"pytest was still running after {timeout_s:g} s{where}"
    if session.stopped is not None:
        return f"pytest stopped before it collected any test: {_first_line(session.stopped.text)}"
    if session.interrupted:
        return f"pytest was stopped{during}: {_first_line(session.interrupted)}"
    if session.internal_error:
        return f"pytest or one of its plugins crashed: {_last_line(session.internal_error)}"
    if session.finish is None:
        return _no_finish(session, done, during)
    if done.exit_code < 0:
        return f"pytest's process was ended by signal {-done.exit_code} after the last test"
    if session.finish.exit_status not in (0, 1, 5):
        status = session.finish.exit_status
        meaning = EXIT_MEANINGS.get(status, "pytest ended early")
        return f"{meaning} (exit status {status}): {_last_line(done.stderr or done.stdout)}"
    if running:
        return f"{_some(running)} began and did not end"
    missing = session.not_run()
    if missing:
        return f"{len(missing)} of {len(session.collected)} collected tests were not run: {_some(missing)}"
    if damaged:
        return f"{damaged} lines of pytest's report cannot be read"
    return ""


def _no_finish(session: Session, done: Completed, during: str) -> str:
    how = (
        f"was ended by signal {-done.exit_code}"
        if done.exit_code < 0
        else f"ended with exit status {done.exit_code}"
    )
    if session.begin is None or (done.exit_code == 4 and not session.cases):
        return f"pytest did not begin ({how}): {_last_line(done.stderr or done.stdout)}"
    return f"pytest's process {how}{during}, without the end of its report"


def _not_in_a_test(session: Session) -> str:
    if session.last_started:
        return f"; no test was running, the last one was {session.last_started}"
    return "; no test had been started (it was collecting, or importing the project)"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason given")


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no output")
