"""Data that a check goes through and that lies among the project's other files, so that no glob of
the goal names it: expected output, and the inputs that it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterable

_CODE = re.compile(
    r"\.(?:py|pyi|[cm]?[jt]sx?|go|rs|c|cc|cpp|h|hpp|java|kt|cs|rb|php|pl|pm|lua|sh|bash|mk)$"
)
_NAME = (
    r"(?:expect(?:ed)?|golden|wanted)"
    r"(?:[_-](?:out(?:put)?|result|value|response|error|file|master|std(?:out|err))s?)?"
)
_EXPECTED = re.compile(
    rf"(?:^|/){_NAME}(?=[/.]|$)|\.(?:exp|expect(?:ed)?|golden|want|ans|ref|ok|approved)$"
)
_OUTPUT = re.compile(r"\.(?:out|output|stdout)$")
"""Expected where it has an input, and no other name says so; else a program may write it."""
_INPUT = re.compile(r"(?:in|input|stdin|args|cmd|command)(?:\.\w+)?")
_FOLDERS = re.compile(rf"(?<![^/])(?:{_NAME}|in|inputs?|cases|data|samples?|examples?|given)/")


def case_files(names: Iterable[str]) -> set[str]:
    """The expected output among some files, and the inputs of the same names (`a.in` beside
    `a.out`, `data/may.csv` for `expected/may.txt`), or that are called so (`input` beside
    `expected`).

    Args:
        names: of files, relative to the project.

    Example:
        >>> sorted(case_files(["run.py", "cases/a.in", "cases/a.out", "cases/b.txt", "job.out"]))
        ['cases/a.in', 'cases/a.out']
    """
    data = [name for name in names if not _CODE.search(name)]
    expected = {name for name in data if _EXPECTED.search(name)}
    cases = {_case(name) for name in expected}
    outputs = {name for name in data if _OUTPUT.search(name) and _case(name) not in cases}
    cases |= {_case(name) for name in outputs}
    inputs = {name for name in data if _case(name) in cases} - expected - outputs
    folders = {_folder(name) for name in expected}
    inputs |= {n for n in data if _folder(n) in folders and _INPUT.fullmatch(n.rpartition("/")[2])}
    have_input = {_case(name) for name in inputs}
    return expected | inputs | {name for name in outputs if _case(name) in have_input}


def _case(name: str) -> str:
    """What an input and its output have in common: `may` of `data/may.csv`."""
    folder, slash, last = name.rpartition("/")
    return _FOLDERS.sub("", f"{folder}{slash}") + last.partition(".")[0]


def _folder(name: str) -> str:
    return name.rpartition("/")[0]
