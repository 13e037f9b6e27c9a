"""Expected output in files: a case that turned green must fail when other output is expected.

Source that reads what its tests expect is right whatever they expect. So where changed sources read
files, the files of expected output are changed in a copy of the project. A case that still passes
there, and fails without these files, compares a file with itself.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from ..contracts.goal import CaseOutcome, CheckReport
from .case_files import CODE
from .files import read_small, walk_project
from .final_check import check_with
from .guard import Guard
from .source_changes import SourceChanges

_NAMES = re.compile(r"(?:^|[/._-])(?:expect\w*|want(?:ed)?\d*)(?=[/._-]|$)", re.IGNORECASE)
_NAMES_IN_CHECK = re.compile(
    r"(?:^|[/._-])(?:gold(?:en)?s?\d*|snap(?:shots?)?|approved|verified|answers?|baselines?"
    r"|references?|oracles?|outputs?)(?=[/._-]|$)|\.(?:exp|out|stdout|stderr|ans|ref)$",
    re.IGNORECASE,
)
"""Elsewhere they name data of other kinds, too."""
_OTHERS = re.compile(
    r"\.(?:in|input|toml|cfg|ini|lock)$|(?:^|/)(?:input[^/]*|package(?:-lock)?\.json|Makefile)$"
)
"""Inputs and settings, whatever the folder is called."""
_READS = re.compile(
    r"(?i)(?:open|read|load|glob|embed|include|require)\w*\b|ifstream|get_contents|FileReader"
    r"|\b(?:getline|iterdir|scandir|listdir|walk|cat|cp|head|tail|sed|awk|grep|source)\b|<\s*[\"$\w./]*\$"
)
_MAX_BYTES = 1_000_000
_MAX_ALL_CHARS = 20_000_000
"""Where a project holds more expected output, the rest is left as it is."""
_MAX_SINGLE_FILES = 3
_MAX_SINGLE_S = 10.0
"""A check that takes longer is not run for each file by itself."""
_MAX_SHOWN = 3
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(?:\s*:)?|-?\d[\d.eE+-]*|true|false')
"""A key with its colon, or a value."""
_NUMBER = re.compile(r"(?<![A-Za-z\d])\d")
_LAST_LETTER = re.compile(r"[A-Za-z](?=[^A-Za-z\d]*$)")


async def reads_expected_output(
    guard: Guard, changes: SourceChanges, report: CheckReport, check_s: float
) -> str:
    """Why the fix is suspect of reading the expected output; empty where it is not.

    Args:
        guard: makes the copies, and knows which cases failed before the run.
        changes: of the run.
        report: of the check that passed.
        check_s: wall-clock seconds that one check takes.

    Raises:
        RetraiError: the tree before the first turn cannot be had.
    """
    before = guard.baseline.cases
    passed = {case for case, outcome in report.cases.items() if outcome == "passed"}
    turned = {case for case in passed if before.get(case) != "passed"}
    texts = await asyncio.to_thread(_expected_output, guard, changes) if turned else {}
    # Most checks read none of them.
    if not texts or not (reading := turned - await _with(guard, dict.fromkeys(texts), "passed")):
        return ""
    groups = [list(texts)]
    if len(turned) == 1 < len(texts) and check_s <= _MAX_SINGLE_S:
        # The case may fail for one file, whatever it makes of another.
        groups += [[path] for path in list(texts)[:_MAX_SINGLE_FILES]]
    others = [{path: changed_output(texts[path]) for path in paths} for paths in groups]
    found = await asyncio.gather(*(_passing_whatever(guard, each, reading) for each in others))
    for paths, suspects in zip(groups, found, strict=True):
        if suspects:
            files = ", ".join(paths[:_MAX_SHOWN])
            return f"the fix reads what is expected: {min(suspects)} passes whatever {files} holds"
    return ""


def is_expected_output(path: str, *, in_check: bool) -> bool:
    """Whether the name of a data file, or of a folder above it, says that it is expected output.

    Args:
        path: relative to the project.
        in_check: it belongs to the check, so that names count which are used for other data, too.

    Example:
        >>> paths = ("a/expected/1.txt", "golden/1.txt", "1.want", "t/want.py", "golden/1.in")
        >>> [is_expected_output(path, in_check=False) for path in paths]
        [True, False, True, False, False]
        >>> is_expected_output("golden/1.txt", in_check=True)
        True
    """
    if CODE.search(path) or _OTHERS.search(path):
        return False
    return bool(_NAMES.search(path) or (in_check and _NAMES_IN_CHECK.search(path)))


def changed_output(text: str) -> str:
    """Other output: every value of a JSON document is another one, and nothing else changes. In
    other texts it is the first digit of every group of digits; and where a line ends with a letter,
    that letter, but for a heading in the first line.

    Example:
        >>> changed_output('{"total": 3, "for": "tea"}'), changed_output("Tea 2.50\\nin all\\n")
        ('{"total": 4, "for": "teb"}', 'Tea 3.60\\nin alm\\n')
    """
    with suppress(ValueError, RecursionError):
        if isinstance(json.loads(text), dict | list):
            return _JSON_TOKEN.sub(lambda at: _other_token(at[0]), text)
    first, *rest = text.split("\n")
    is_heading = any(line.strip() for line in rest)
    return "\n".join(
        [_other_numbers(first) if is_heading else _other_line(first), *map(_other_line, rest)]
    )


def _other_token(token: str) -> str:
    value: object = None if token.endswith(":") else json.loads(token)
    match value:
        case bool():
            return json.dumps(not value)
        case int() | float():
            return json.dumps(value + 1)
        case str():
            return json.dumps(_other_line(value), ensure_ascii=token.isascii())
        case _:
            return token


def _other_line(line: str) -> str:
    return _LAST_LETTER.sub(lambda at: _neighbor(at[0]), _other_numbers(line))


def _other_numbers(line: str) -> str:
    return _NUMBER.sub(lambda at: str((int(at[0]) + 1) % 10), line)


def _neighbor(letter: str) -> str:
    return chr(ord(letter) + (-1 if letter in "zZ" else 1))


async def _passing_whatever(guard: Guard, others: Mapping[str, str], cases: set[str]) -> set[str]:
    """Those of the cases that pass where files hold other texts, and fail where they are gone."""
    for _ in range(2):  # a flaky case proves nothing
        if cases:
            cases = cases & await _with(guard, others, "passed")
        if cases:
            cases = cases & await _with(guard, dict.fromkeys(others), "failed")
    return cases


async def _with(guard: Guard, texts: Mapping[str, str | None], outcome: CaseOutcome) -> set[str]:
    """The cases with an outcome where files hold other texts; None: where they are gone."""
    result = await check_with(guard, partial(_put, texts))
    if result.report is None or not result.report.complete or result.cut_off:
        return set()
    return {case for case, found in result.report.cases.items() if found == outcome}


def _put(texts: Mapping[str, str | None], copy: Path) -> None:
    for path, text in texts.items():
        place = copy / path
        if not place.is_file():
            continue  # it was closed to us
        status = place.stat()
        place.unlink()  # it may be read-only
        if text is not None:
            place.write_text(text, encoding="utf-8", newline="")
            # Source may take it for expected output by its age.
            os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))


def _expected_output(guard: Guard, changes: SourceChanges) -> dict[str, str]:
    """The text of each file of expected output, those of the check first; none where no changed
    source reads files.

    What the run changed does not count, nor what lies among changed sources and is none of the
    check's.
    """
    project = guard.context.project
    if not any(_READS.search(_text(project / path) or "") for path in changes.sources):
        return {}
    folders = {Path(path).parent for path in changes.sources} - {Path()}
    texts: dict[str, str] = {}
    left = _MAX_ALL_CHARS
    found = sorted((not guard.belongs_to_check(path), path) for path in walk_project(project))
    for is_elsewhere, path in found:
        is_source = is_elsewhere and not folders.isdisjoint(Path(path).parents)
        if not is_expected_output(path, in_check=not is_elsewhere) or is_source:
            continue
        is_changed = path in changes.sources or path in changes.tests
        if is_changed or guard.is_held_out(path) or guard.steers(path):
            continue
        text = _text(project / path)
        if text is not None and changed_output(text) != text:
            texts[path] = text
            left -= len(text)
            if left < 0:
                break
    return texts


def _text(path: Path) -> str | None:
    """What a file of moderate size holds; None where it is no text or cannot be read."""
    data = None if path.is_symlink() else read_small(path, _MAX_BYTES)
    try:
        return None if data is None else data.decode()
    except ValueError:
        return None
