"""Makes a `PytestRun` of the report and of how the process ended."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from retrai_core import CaseOutcome, Completed, ToolError
from retrai_goal_support import Failure

from .case_outcomes import Session, read_session
from .failure_text import FailureWriter
from .incomplete_reason import incomplete_reason
from .pytest_run import PytestRun
from .report_lines import read_lines

TAIL_CHARS = 3000


def make_run(
    data: bytes,
    done: Completed | ToolError,
    cwd: Path,
    python: str,
    arguments: Sequence[str],
    timeout_s: float,
    max_chars_per_failure: int,
    stack: Sequence[tuple[str, int, str]] = (),
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
        stack: where the process was when its time was up: file, line, function, outermost first.
    """
    command = (python, "-m", "pytest", *arguments)
    if isinstance(done, ToolError):
        problem = f"{python} cannot be run: {done}"
        return PytestRun({}, (), False, -1, command, python, 0.0, problem)
    lines, damaged = read_lines(data)
    session = read_session(lines)
    problem = incomplete_reason(session, done, timeout_s, damaged)
    cases: dict[str, CaseOutcome] = {
        name: case.final_outcome for name, case in session.cases.items()
    }
    writer = FailureWriter(cwd, max_chars_per_failure)
    tail = (done.stdout.rstrip() + "\n" + done.stderr.rstrip()).strip()[-TAIL_CHARS:]
    return PytestRun(
        cases=cases,
        failures=_failures(session, cases, writer, stack),
        complete=not problem,
        exit_status=done.exit_code,
        command=command,
        interpreter=python,
        duration_s=done.duration_s,
        problem=problem,
        deselected=session.finish.deselected if session.finish else 0,
        output_tail=tail,
        pytest_version=session.begin.pytest if session.begin else "",
        imported_from=tuple(session.finish.imported) if session.finish else (),
        calls=session.calls,
    )


def _failures(
    session: Session,
    cases: dict[str, CaseOutcome],
    writer: FailureWriter,
    stack: Sequence[tuple[str, int, str]],
) -> tuple[Failure, ...]:
    found: list[Failure] = []
    for name, outcome in cases.items():
        case = session.cases[name]
        if case.problems:
            found.append(writer.write(name, outcome, case))
        elif outcome in ("failed", "error"):
            found.append(writer.write_cut_off(name, "it did not end", stack))
    return tuple(found)
