"""Expected output in files: a case that turned green must notice when it is another one.

Source that reads what its tests expect is right whatever they expect. So where the run added code
that reads files, the check's files of expected output are changed in a copy. A case that passes
there all the same, and fails where they are gone, compares a file with itself.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ..contracts.goal import CheckReport
from .files import walk_project
from .final_check import check_with
from .guard import Guard
from .source_changes import SourceChanges

_NAMES = re.compile(
    r"(?:^|[/._-])(?:expect\w*|gold(?:en)?s?|want(?:ed)?|snap(?:shots?)?|approved)(?=[/._-]|$)"
    r"|\.(?:exp|out|stdout|ans|ref)$",
    re.IGNORECASE,
)
_CODE = re.compile(r"\.(?:py|pyi|[cm]?[jt]sx?|go|rs|c|cc|cpp|h|hpp|java|rb|php|pl|sh|bash)$")
_READS = re.compile(
    r"(?i)\b(?:f?open|read|\w*glob|iterdir|scandir|listdir|walk|include_)\w*!?\(|\bfs::read"
    r"|\b(?:cat|cp|head|tail|sed|awk)\s|<\s*[\"$]"
)
_MOST_ALONE = 3
_SHOWN = 3
_MAX_BYTES = 1_000_000
_DIGIT = re.compile(r"^(\D*)(\d)", re.MULTILINE)
_LETTER = re.compile(r"^([^a-z\n]*)([a-z])", re.MULTILINE | re.IGNORECASE)


async def follows_expected_files(guard: Guard, changes: SourceChanges, report: CheckReport) -> str:
    """That a case passes whatever its file of expected output holds; empty where none does.

    Args:
        guard: makes the copies, and knows which cases failed before the run.
        changes: of the run.
        report: of the check that passed.

    Raises:
        RetraiError: the tree before the first turn cannot be had.
    """
    before = guard.baseline.cases
    turned = {case for case in _passed(report) if before.get(case) != "passed"}
    expected = await asyncio.to_thread(_expected_files, guard, changes) if turned else []

    async def passing(change: Callable[[Path], None], files: Sequence[str]) -> set[str]:
        return _passed((await check_with(guard, partial(_to_each, change, files))).report)

    together = [expected] if expected else []
    # A check of one case fails for one file, whatever it makes of the others.
    alone = [[path] for path in expected[:_MOST_ALONE]] if len(before) == 1 < len(expected) else []
    for files in [*together, *alone]:
        same = turned & await passing(_change, files)
        same -= await passing(Path.unlink, files) if same else set()
        if same:
            named = ", ".join(files[:_SHOWN])
            return f"the fix reads what is expected: {min(same)} passes whatever stands in {named}"
    return ""


def is_expected_output(path: str) -> bool:
    """Whether a data file's name, or that of a folder above it, says that output is expected there.

    Example:
        >>> [is_expected_output(p) for p in ("t/golden/a.txt", "t/1.out", "t/out.log", "t/want.py")]
        [True, True, False, False]
    """
    return _CODE.search(path) is None and _NAMES.search(path) is not None


def changed_output(text: str) -> str:
    """Another text: the first digit of each line is another one, or letter where it has no digits.

    Example:
        >>> changed_output("tea 2.50\\n--\\n"), changed_output("tea\\n")
        ('tea 3.50\\n--\\n', 'uea\\n')
    """
    other, changed = _DIGIT.subn(lambda at: at[1] + str((int(at[2]) + 1) % 10), text)
    return other if changed else _LETTER.sub(lambda at: at[1] + _next(at[2]), text)


def _next(letter: str) -> str:
    return chr(ord(letter) + (-1 if letter in "zZ" else 1))


def _change(path: Path) -> None:
    path.write_text(changed_output(path.read_text("utf-8")), "utf-8")


def _to_each(change: Callable[[Path], None], paths: Sequence[str], copy: Path) -> None:
    for path in paths:
        file = copy / path
        if file.is_file() and not file.is_symlink() and file.stat().st_size < _MAX_BYTES:
            try:
                change(file)
            except UnicodeDecodeError:
                continue  # it is no text


def _passed(report: CheckReport | None) -> set[str]:
    if report is None:
        return set()
    return {case for case, outcome in report.cases.items() if outcome == "passed"}


def _expected_files(guard: Guard, changes: SourceChanges) -> list[str]:
    """Files of expected output that the run left alone, where it added what reads files.

    What lies among changed sources, and is none of the check's, belongs to them.
    """
    if not _adds_reading(guard, changes):
        return []
    ours = {Path(path).parent for path in changes.sources} - {Path()}
    return [
        path
        for path in walk_project(guard.context.project)
        if is_expected_output(path) and path not in changes.sources
        if guard.belongs_to_check(path) or ours.isdisjoint(Path(path).parents)
    ]


def _adds_reading(guard: Guard, changes: SourceChanges) -> bool:
    """Whether a line that reads files was added to the sources."""
    for path, entry in changes.sources.items():
        file = guard.context.project / path
        if file.is_file() and not file.is_symlink():
            old = changes.snapshots.content(entry) if entry is not None else b""
            new = set(file.read_bytes().split(b"\n")) - set(old.split(b"\n"))
            if any(_READS.search(line.decode("utf-8", "replace")) for line in new):
                return True
    return False
