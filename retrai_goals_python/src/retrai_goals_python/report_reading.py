"""Makes a `PytestRun` of the report, of the stacks at a time-out, and of how the process ended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from retrai_core import CaseOutcome, Completed, ToolError

from .case_outcomes import read_session
from .failure_text import FailureWriter
from .incomplete_reason import incomplete_reason
from .pytest_run import PytestRun
from .report_lines import read_lines

TAIL_CHARS = 3000
MAX_STACK_BYTES = 200_000
_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$')
# faulthandler writes ASCII only.
_ESCAPED = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")


def make_run(
    data: bytes,
    done: Completed | ToolError,
    cwd: Path,
    python: str,
    arguments: Sequence[str],
    timeout_s: float,
    max_chars_per_failure: int,
    folder: Path,
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
        folder: where the reporter kept its `stacks*.txt`.
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
    writer = FailureWriter(cwd, max_chars_per_failure, _read_stacks(folder))
    tail = (done.stdout.rstrip() + "\n" + done.stderr.rstrip()).strip()[-TAIL_CHARS:]
    return PytestRun(
        cases=cases,
        failures=tuple(
            writer.write(name, case)
            for name, case in session.cases.items()
            if case.problems or cases[name] in ("failed", "error")
        ),
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
