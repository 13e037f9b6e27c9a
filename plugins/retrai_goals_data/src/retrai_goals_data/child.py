"""Starts what is heavy (databases, NumPy and what builds on it) in a process of its own.

That process is retrai's interpreter and not the project's, in isolated mode: no file of the
project, no `PYTHONPATH` and no user site decides what is imported there. It gets its job as one
line of JSON on standard input, followed by data where there is any, and answers with one line of
JSON.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
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
    """The process gave no answer; the message says why on one line."""


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

    async def run(
        self, sandbox: Sandbox, job: JobClass, answer: type[A], *, data: bytes = b"", cwd: Path
    ) -> A:
        """Do the job.

        Raises:
            ChildError: it ended without an answer, or did not end in time.
        """
        try:
            done = await sandbox.run(
                [sys.executable, "-I", "-c", _START.format(module=self.module), str(_ROOT)],
                timeout_s=self.timeout_s,
                cwd=cwd,
                # One thread of BLAS is enough here, gives the same digits each time, and starts
                # where a sandbox allows few.
                env={"PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"},
                limits=Limits(output_bytes=MAX_ANSWER_BYTES),
                stdin=as_json(job) + b"\n" + data,
                readable=[Path(sys.prefix), Path(sys.base_prefix), _ROOT, *self.readable],
                writable=self.writable,
            )
        except ToolError as error:
            raise ChildError(f"it cannot be started: {error}") from error
        if done.timed_out:
            raise ChildError(f"it took longer than {self.timeout_s:g} s")
        try:
            return TypeAdapter(answer).validate_json(done.stdout.strip())
        except ValidationError:
            said = done.stderr.strip()[-3000:].splitlines() or [f"exit status {done.exit_code}"]
            raise ChildError(f"it gave no answer: {said[-1]}") from None
