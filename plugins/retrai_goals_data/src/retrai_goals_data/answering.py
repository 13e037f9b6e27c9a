"""The other end of `child`: reads a job, keeps standard output free of noise, writes the answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

J = TypeVar("J", bound=BaseModel)


def answer_job(job_type: type[J], work: Callable[[J, bytes], BaseModel]) -> None:
    """Do the job that stands on standard input, with the data behind it, and answer.

    What libraries print goes to standard error, so that the answer is all of standard output.
    """
    answers = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    head, _, data = sys.stdin.buffer.read().partition(b"\n")
    answer = work(job_type.model_validate_json(head), data)
    with os.fdopen(answers, "wb") as output:
        output.write(answer.model_dump_json().encode("utf-8", "replace") + b"\n")
