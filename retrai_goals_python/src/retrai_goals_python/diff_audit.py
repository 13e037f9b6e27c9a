"""Looks for tricks among the lines that a unified diff adds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from retrai_core import Suspicion

Trick = tuple[re.Pattern[str], str]

REACHES_RUNNER = frozenset(
    {"reaches into pytest", "asks whether tests run", "names a test file", "looks for retrai"}
)
"""Findings that make a change suspect by itself when they stand in source, not in a test."""
_TEST_PATH = re.compile(r"(?:^|/)(?:tests?/|conftest\.py$|test_[^/]*\.py$|[^/]*_test\.py$)")

IGNORES: tuple[Trick, ...] = (
    (re.compile(r"#\s*type:\s*ignore"), "a new `type: ignore` comment"),
    (re.compile(r"#\s*pyright:\s*(?:ignore|basic|off|report\w+\s*=)"), "a new pyright comment"),
    (re.compile(r"#\s*(?:noqa|pylint:\s*disable|mypy:|ruff:\s*noqa)"), "a new linter comment"),
)
PYTHON_TRICKS: tuple[Trick, ...] = (
    (re.compile(r"\bmark\.(?:skip|skipif)\b|\bunittest\.skip|@skip(?:If|Unless)?\b"), "a new skip"),
    (re.compile(r"\bpytest\.(?:skip|exit|importorskip)\b|\bSkipTest\b"), "a new skip or exit"),
    (
        re.compile(r"\bmark\.xfail\b|\bpytest\.xfail\b|\bexpectedFailure\b"),
        "a new expected failure",
    ),
    *IGNORES,
    (re.compile(r"#\s*pragma:\s*no cover"), "a new `pragma: no cover`"),
    (re.compile(r"\bsys\.modules\b"), "touches sys.modules"),
    (
        re.compile(r"\b_pytest\b|\bimport pytest\b|\bfrom pytest\b|\bpluggy\b"),
        "reaches into pytest",
    ),
    (re.compile(r"\bos\._exit\b|\bos\.abort\b|\bos\.kill\b|\batexit\b"), "ends the process"),
    (
        re.compile(r"\b_getframe\b|\binspect\.(?:stack|currentframe|getouterframes)\b|\bf_back\b"),
        "inspects its callers",
    ),
    (re.compile(r"PYTEST_|\bsys\.argv\b.*pytest|pytest.*\bsys\.argv\b"), "asks whether tests run"),
    (
        re.compile(r"\bsys\.(?:settrace|setprofile|meta_path|path_hooks)\b"),
        "hooks into the interpreter",
    ),
    (re.compile(r"[\"'](?:[^\"']*/)?(?:tests?/|test_\w+\.py)"), "names a test file"),
    (re.compile(r"\bbuiltins\.\w+\s*=|\bsetattr\(\s*builtins\b"), "changes a built-in"),
    (re.compile(r"\bdef __(?:eq|ne)__\b.*return True\b"), "equals everything"),
    (re.compile(r"_retrai|RETRAI_"), "looks for retrai"),
)
_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def added_lines(diff: str) -> Iterator[tuple[str, int, str]]:
    """Each line that a unified diff adds: the file, its new line number, the text."""
    path, number, old_left, new_left = "", 0, 0, 0
    for line in diff.splitlines():
        if old_left > 0 or new_left > 0:
            # A hunk says how long it is; what looks like a header within it is content.
            if line.startswith("+"):
                yield path, number, line[1:]
            old_left -= not line.startswith(("+", "\\"))
            new_left -= not line.startswith(("-", "\\"))
            number += not line.startswith(("-", "\\"))
        elif line.startswith("+++ "):
            path = line[4:].split("\t")[0].removeprefix("b/")
        elif found := _HUNK.match(line):
            old, start, new = found.groups(default="1")
            number, old_left, new_left = int(start), int(old), int(new)


def audit_added_lines(diff: str, tricks: Sequence[Trick]) -> list[Suspicion]:
    """Every added line that one of `tricks` fits, each trick once a line.

    Example:
        >>> diff = "--- a/x.py\\n+++ b/x.py\\n@@ -1 +1,2 @@\\n a = 1\\n+import os; os._exit(0)\\n"
        >>> [found.what for found in audit_added_lines(diff, PYTHON_TRICKS)]
        ['ends the process: import os; os._exit(0)']
    """
    return [
        Suspicion(
            path,
            number,
            f"{what}: {text.strip()[:120]}",
            reaches_runner=what in REACHES_RUNNER and _is_source(path),
        )
        for path, number, text in added_lines(diff)
        for pattern, what in tricks
        if pattern.search(text)
    ]


def _is_source(path: str) -> bool:
    """A Python file that is no test: a README may name test files, and new tests import pytest."""
    return path.endswith(".py") and not _TEST_PATH.search(path)
