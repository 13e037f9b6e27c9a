"""Starts what is heavy (databases, NumPy and what builds on it) in a process of its own.

That process is retrai's interpreter and not the project's, in isolated mode: no file of the
project, no `PYTHONPATH` and no user site decides what is imported there. It gets its job as one
line of JSON on standard input, followed by data where there is any, and answers with one line of
JSON.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from retrai_core import Limits, Sandbox, ToolError

from .answering import JobClass, as_json

MAX_ANSWER_BYTES = 50_000_000
_ROOT = Path(__file__).resolve().parents[1]
_START = "import sys; sys.path.append(sys.argv[1]); from {module} import main; main()"

A = TypeVar("A")


class ChildError(Exception):
    """The process gave no answer; the message says why on one line, `output` is what it printed."""

    def __init__(self, message: str, output: str = "", *, timed_out: bool = False) -> None:
        super().__init__(message)
        self.output = output
        self.timed_out = timed_out


@dataclass(frozen=True)
class Child:
    """A module of this distribution whose `main` does one job.

    Attributes:
        module: its dotted name.
        timeout_s: wall-clock seconds for the whole process.
        readable, writable: folders outside the project that the job needs.
    """

    module: str
    timeout_s: float
    readable: Sequence[Path] = ()
    writable: Sequence[Path] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-I", "-c", _START.format(module=self.module), str(_ROOT)]

    async def run(
        self, sandbox: Sandbox, job: JobClass, answer: type[A], *, data: bytes = b"", cwd: Path
    ) -> A:
        """Do the job.

        Raises:
            ChildError: it ended without an answer, or did not end in time.
        """
        try:
            done = await sandbox.run(
                self.command,
                timeout_s=self.timeout_s,
                cwd=cwd,
                # One thread of BLAS is enough here, gives the same digits each time, and starts
                # where a sandbox allows few.
                env={"PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1", **self.env},
                limits=Limits(output_bytes=MAX_ANSWER_BYTES),
                stdin=as_json(job) + b"\n" + data,
                readable=[Path(sys.prefix), Path(sys.base_prefix), _ROOT, *self.readable],
                writable=list(self.writable),
            )
        except ToolError as error:
            raise ChildError(f"it cannot be started: {error}") from error
        if done.timed_out:
            raise ChildError(f"it took longer than {self.timeout_s:g} s", timed_out=True)
        try:
            return TypeAdapter(answer).validate_json(done.stdout.strip() or "")
        except ValidationError:
            said = done.stderr.strip()[-3000:]
            last = (said.splitlines() or [f"exit status {done.exit_code}"])[-1]
            raise ChildError(f"it gave no answer: {last}", said) from None
