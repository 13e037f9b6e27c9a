"""Which of the values that a failed assertion compared is the one that is expected."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path

from retrai_goal_support import project_files

from ..python_source import imported, literal, parse, parse_file, read_bytes

NONDETERMINISTIC = {
    *("time", "timeit", "datetime", "random", "threading", "asyncio", "multiprocessing", "secrets"),
    *("hypothesis", "faker"),
}
"""Modules with which another run of a test may compare other values."""
_MIN_CHARS = 6
"""A shorter text may stand in a test by chance."""
_MARGIN = 4
"""Characters of white space around a text in its file."""


class ExpectedValues:
    """Looks values up in the files of a project; each file is read once.

    Args:
        folder: the project.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._constants_of = cache(self._read_constants)

    def among(
        self, compared: Sequence[str], answers: Sequence[str], paths: Sequence[str]
    ) -> list[str]:
        """The value that the project's code was expected to answer; none where that is not known.

        It is known where the other one is in an answer, and this one stands in the files of the
        test, or is all that a file holds.

        Args:
            compared: two values, as Python writes them.
            answers: what the project's code answered the test.
            paths: the files of the test and of the assertion.
        """
        others = [value for value in compared if not any(value in answer for answer in answers)]
        if len(others) != 1:
            return []
        tree = parse(others[0])
        constants = _constants_in(tree)
        texts = [each.strip() for each in constants if isinstance(each, str)]
        # How a set is written depends on the process.
        has_set = any(isinstance(node, ast.Set) for node in ast.walk(tree))
        if max(map(len, texts), default=0) < _MIN_CHARS or has_set:
            return []
        known: set[object] = set()
        for path in paths:
            there = self._constants_of(path)
            if there is None:
                return []
            known |= there
        whole = literal(others[0])
        if constants <= known or (isinstance(whole, str) and self._is_content(whole.strip())):
            return others
        return []

    def _read_constants(self, path: str) -> frozenset[object] | None:
        """The constants in a file; None where chance takes part in it."""
        tree = parse_file(self._folder / path)
        return None if imported(tree) & NONDETERMINISTIC else _constants_in(tree)

    def _is_content(self, text: str) -> bool:
        """Whether a file holds this text and nothing else."""
        data = text.encode(errors="replace")
        sizes = range(len(data), len(data) + _MARGIN + 1)
        likely = (file for size in sizes for file in self._by_size.get(size, ()))
        return any(read_bytes(file).strip() == data for file in likely)

    @cached_property
    def _by_size(self) -> defaultdict[int, list[Path]]:
        found: defaultdict[int, list[Path]] = defaultdict(list)
        for name in project_files(self._folder):
            with suppress(OSError):  # it went meanwhile, or leads nowhere
                found[(self._folder / name).stat().st_size].append(self._folder / name)
        return found


def _constants_in(tree: ast.Module) -> frozenset[object]:
    return frozenset(node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
