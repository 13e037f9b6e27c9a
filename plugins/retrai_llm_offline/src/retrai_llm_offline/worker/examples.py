"""The examples in a function's docstring, as one more opinion on an edit that passes the tests."""

from __future__ import annotations

import doctest
from types import FunctionType
from typing import Iterable

from .limits import Alarm, OutOfTimeError


def wrong_examples(functions: Iterable[FunctionType], cpu_s: float, wall_s: float) -> int:
    """How many `>>>` examples of these functions give another result than is written there.

    Examples that are no doctest are ignored; one that runs out of time counts as wrong.
    """
    wrong = 0
    alarm = Alarm()
    for function in functions:
        text = function.__doc__ or ""
        if ">>>" not in text:
            continue
        try:
            parsed = doctest.DocTestParser().get_doctest(
                text, dict(function.__globals__), function.__name__, None, None
            )
        except ValueError:
            continue
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
        try:
            alarm.arm(cpu_s, wall_s)
            wrong += runner.run(parsed, out=lambda _text: 0).failed
        except (OutOfTimeError, MemoryError):
            wrong += 1
        finally:
            alarm.disarm()
    return wrong
