"""The other end of `child`: reads a job, keeps standard output free of noise, writes the answer.

Without Pydantic, whose import alone would take as long as a small job: what arrives here comes from
retrai itself. The answer is validated where it arrives.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from types import UnionType
from typing import Any, ClassVar, Protocol, TypeVar, cast, get_args, get_origin, get_type_hints


class JobClass(Protocol):
    """A job or an answer: a dataclass of what JSON can say, and of more dataclasses."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


J = TypeVar("J", bound=JobClass)


def answer_job(job_type: type[J], work: Callable[[J, bytes], JobClass]) -> None:
    """Do the job that stands on standard input, with the data behind it, and answer.

    What libraries print goes to standard error, so that the answer is all of standard output.
    """
    answers = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    head, _, data = sys.stdin.buffer.read().partition(b"\n")
    answer = work(made_of(job_type, json.loads(head)), data)
    with os.fdopen(answers, "wb") as output:
        output.write(as_json(answer) + b"\n")


def as_json(value: JobClass) -> bytes:
    """One line of JSON; a number that JSON has no name for (NaN, infinity) is null.

    Example:
        >>> from retrai_goals_data.analysis.jobs import Outcome
        >>> as_json(Outcome(data={"p": float("nan"), "n": 3}))
        b'{"problem": "", "text": "", "data": {"p": null, "n": 3}, "image": ""}'
    """
    text = json.dumps(_finite(asdict(value)), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in cast("list[Any]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def made_of(kind: Any, value: Any) -> Any:
    """What `as_json` was given, by its class and what JSON made of it.

    Example:
        >>> from retrai_goals_data.database.jobs import Job, Target
        >>> job = Job("check", Target("sqlite", "a.db"), query="SELECT 1")
        >>> made_of(Job, json.loads(as_json(job))) == job
        True
    """
    if isinstance(kind, UnionType):
        (kind,) = (one for one in get_args(kind) if one is not type(None))
    if value is None:
        return None
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: made_of(hints[name], one) for name, one in value.items()})
    return tuple(value) if get_origin(kind) is tuple else value
