"""Data that a check goes through and that lies among the project's other files, so that no glob of
the goal names it: expected output, and the inputs that it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterable

CODE = re.compile(
    r"\.(?:py|pyi|[cm]?[jt]sx?|go|rs|c|cc|cpp|h|hpp|java|kt|cs|rb|php|pl|pm|lua|sh|bash|mk)$"
)
_NAME = (
    r"(?:expect(?:ed)?|golden|wanted)"
    r"(?:[_-](?:out(?:put)?|result|value|response|error|file|master|std(?:out|err))s?)?"
)
_EXPECTED = re.compile(
    rf"(?P<folder>(?:(?P<above>.*)/)?{_NAME})/|.*\.(?:expect(?:ed)?|golden|want|ans|approved)$"
)
_OUTPUT = re.compile(rf"(?:^|.*/){_NAME}(?:\.\w+)?$|.*\.(?:exp|out|output|stdout)$")
"""Expected where there is its input; else it may be data of the program, or written by it."""
_INPUT = re.compile(
    r"(?:^|.*/)(?:in(?:put)?|stdin|args|cmd)(?:\.\w+)?$|.*\.(?:in|input|stdin|args|cmd)$"
    r"|(?:^|.*/)in(?:puts?)?/"
)
_FOLDER = re.compile(rf"(?<![^/])(?:{_NAME}|in|inputs?)/")
_CASE = re.compile(rf"(?<![^/])(?:{_NAME}|in(?:put)?|stdin|args|cmd)(?:\.\w+)?$")


def case_files(names: Iterable[str]) -> set[str]:
    """The expected output among some files, and the inputs of the same names: `a.in` of `a.out` or
    `a.expected`, `in/may.csv` of `expected/may.txt`, `input` beside `expected`.

    Args:
        names: of files, relative to the project.

    Example:
        >>> sorted(case_files(["run.py", "cases/a.in", "cases/a.out", "cases/b.txt", "job.out"]))
        ['cases/a.in', 'cases/a.out']
    """
    every = list(names)
    packages = {name.rpartition("/")[0] for name in every if CODE.search(name)} - {""}
    data = [name for name in every if not CODE.search(name)]
    matches = ((name, _EXPECTED.match(name)) for name in data)
    # A package may call data of its own so.
    expected = {
        name
        for name, found in matches
        if found and packages.isdisjoint(filter(None, (found["folder"], found["above"])))
    }
    inputs = {name for name in data if _INPUT.match(name)} - expected
    given = set(map(_case, inputs))
    outputs = {name for name in data if _OUTPUT.match(name) and _case(name) in given} - inputs
    cases = set(map(_case, expected | outputs))
    return expected | outputs | {name for name in inputs if _case(name) in cases}


def _case(name: str) -> str:
    """What an input and its output have in common: `may` of `in/may.csv`, `a/` of `a/input`."""
    plain = _CASE.sub("", _FOLDER.sub("", name))
    folder, slash, last = plain.rpartition("/")
    return f"{folder}{slash}{last.partition('.')[0]}"
