"""Looks for tricks among the lines that a unified diff adds."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from retrai_core import Suspicion

from .diff_lines import added_lines, removed_lines, text_before
from .foreign_patches import foreign_patches
from .prose import code_lines
from .reaching_code import (
    BUILT_IN,
    CALLERS,
    HOOKS,
    MODULES,
    OBJECTS,
    PYTEST,
    Reach,
    reaching,
)

Trick = tuple[re.Pattern[str], str]

REACHES_RUNNER = frozenset(
    {
        PYTEST,
        "asks whether tests run",
        "names a test file",
        "looks for retrai",
        # The ways to the runner that need not name it.
        MODULES,
        HOOKS,
        CALLERS,
        BUILT_IN,
        OBJECTS,
        "looks at its own process",
    }
)
"""Findings that make a change suspect by itself when they stand in source, not in a test."""
BY_MEANING = frozenset({PYTEST, MODULES, CALLERS, OBJECTS, HOOKS, BUILT_IN})
"""Those of them that `reaching` knows better than any pattern does."""
_SHOWN = 120
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
    (re.compile(r"\bsys\.modules\b"), MODULES),
    (
        re.compile(r"\b_pytest\b|\bimport pytest\b|\bfrom pytest\b|\bpluggy\b"),
        PYTEST,
    ),
    (re.compile(r"\bos\._exit\b|\bos\.abort\b|\bos\.kill\b|\batexit\b"), "ends the process"),
    (
        re.compile(
            r"\b_getframe\b|\b_current_frames\b|\bextract_stack\b|\b[ft]b?_(?:back|frame|globals)\b"
            r"|\binspect\.(?:stack|currentframe|getouterframes|trace)\b|\b__code__\s*="
        ),
        CALLERS,
    ),
    (
        re.compile(r"\bgc\.get_(?:objects|referrers|referents)\b|\bfrom gc\b|\bpythonapi\b"),
        OBJECTS,
    ),
    (
        re.compile(r"\borig_argv\b|/proc/(?:self|thread-self|\d)|/proc/[\"'{]"),
        "looks at its own process",
    ),
    (re.compile(r"PYTEST_|[\"'](?:py\.?test|unittest)[\"']"), "asks whether tests run"),
    (
        re.compile(r"\bsys\.(?:settrace|setprofile|meta_path|path_hooks)\b"),
        HOOKS,
    ),
    # Neither an address (`https://host/test/`) nor a route (`/api/test/`).
    (
        re.compile(r"[\"'](?:(?:(?!/)[^\"':]*/)?tests?/|(?:[^\"':]*/)?test_\w+\.py)"),
        "names a test file",
    ),
    (re.compile(r"\bbuiltins\.\w+\s*=|\bsetattr\(\s*builtins\b"), BUILT_IN),
    (re.compile(r"\bdef __(?:eq|ne)__\b.*return True\b"), "equals everything"),
    (re.compile(r"_retrai|RETRAI_"), "looks for retrai"),
)


def is_source(path: str) -> bool:
    """A Python file that is no test: a README may name test files, and new tests import pytest."""
    return path.endswith(".py") and not is_test(path)


def is_test(path: str) -> bool:
    """Whether a file is named like a test, or stands among tests."""
    return _TEST_PATH.search(path) is not None


def audit_added_lines(
    diff: str,
    tricks: Sequence[Trick],
    project: Path | None = None,
    reaches: Callable[[str], bool] = is_source,
) -> list[Suspicion]:
    """Every added line that one of `tricks` fits, each trick once a line; then what code reaches.

    What a file did before is told, but makes nothing suspect: a plugin for pytest imports pytest.

    Args:
        diff: the whole diff of the run.
        tricks: what to look for.
        project: where the changed files stand; without it only the lines in `diff` are known.
        reaches: whether the code of a file, by its relative path, runs in the check.

    Example:
        >>> diff = "--- a/x.py\\n+++ b/x.py\\n@@ -1 +1,2 @@\\n a = 1\\n+import os; os._exit(0)\\n"
        >>> [found.what for found in audit_added_lines(diff, PYTHON_TRICKS)]
        ['ends the process: import os; os._exit(0)']
    """
    files = _Files(diff, project)
    moved = {text.strip() for _, text in removed_lines(diff)}
    told = [
        Suspicion(
            path,
            number,
            f"{what}: {text.strip()[:_SHOWN]}",
            reaches_runner=what in REACHES_RUNNER
            and reaches(path)
            # Where the file can be read as Python, its meaning counts, not its spelling.
            and (what not in BY_MEANING or files.reached(path) is None)
            and bool(pattern.search(files.code(path, number, text)))
            and text.strip() not in moved
            and not any(map(pattern.search, files.before(path))),
        )
        for path, number, text in added_lines(diff)
        for pattern, what in tricks
        if pattern.search(text)
    ]
    return [*told, *_by_meaning(diff, files, reaches, moved), *_replaced(diff, files, reaches)]


def _by_meaning(
    diff: str, files: _Files, reaches: Callable[[str], bool], moved: Collection[str]
) -> Iterator[Suspicion]:
    """What a changed file reaches for now and did not before, however it is spelled."""
    for path in dict.fromkeys(path for path, _, _ in added_lines(diff)):
        found = files.reached(path) if reaches(path) else None
        before = reaching("\n".join(files.before(path)), fixtures=True) if found else None
        known = {reach.what for reach in before or ()}
        for reach in found or ():
            text = files.line(path, reach.line).strip()
            if reach.what not in known and text not in moved:
                what = f"{reach.what}: {text[:_SHOWN]}"
                yield Suspicion(path, reach.line, what, reaches_runner=True)


def _replaced(diff: str, files: _Files, reaches: Callable[[str], bool]) -> Iterator[Suspicion]:
    """What a changed file replaces now, and did not before, that is not its own."""
    for path in dict.fromkeys(path for path, _, _ in added_lines(diff)):
        if not reaches(path):
            continue
        before = {reach.what for reach in foreign_patches("\n".join(files.before(path)))}
        for reach in foreign_patches("\n".join(files.lines(path))):
            if reach.what not in before:
                yield Suspicion(path, reach.line, reach.what, sign="unknown")


class _Files:
    """The changed files, as they are and as they were, each read once."""

    def __init__(self, diff: str, project: Path | None) -> None:
        self._diff = diff
        self._project = project
        self._known: dict[str, _File] = {}

    def before(self, path: str) -> list[str]:
        """The lines that a file had before the run."""
        return self._of(path).before

    def reached(self, path: str) -> list[Reach] | None:
        """What the file reaches for; None where it is not at hand, or no Python."""
        return self._of(path).reached

    def lines(self, path: str) -> list[str]:
        """The lines of the file as it is."""
        return self._of(path).lines

    def line(self, path: str, number: int) -> str:
        """One line of the file as it is, from 1; empty where there is none."""
        lines = self._of(path).lines
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def code(self, path: str, number: int, text: str) -> str:
        """The code in line `number`; `text` itself where the file is not at hand."""
        there = self.line(path, number).rstrip("\r") == text.rstrip("\r")
        return self._of(path).code.get(number, text) if there else text

    def _of(self, path: str) -> _File:
        if path not in self._known:
            data = _bytes_of(self._project, path)
            text = data.decode("utf-8", errors="replace")
            lines = text.split("\n") if text else []
            before = text_before(self._diff, path, lines).split("\n")
            reached = reaching(data) if data and path.endswith(".py") else None
            self._known[path] = _File(lines, before, code_lines(text), reached)
        return self._known[path]


@dataclass(frozen=True, slots=True)
class _File:
    lines: list[str]
    before: list[str]
    code: Mapping[int, str]
    reached: list[Reach] | None


def _bytes_of(project: Path | None, path: str) -> bytes:
    if project is None:
        return b""
    try:
        return (project / path).read_bytes()
    except (OSError, ValueError):
        return b""  # it is gone: all that is known stands in the diff
