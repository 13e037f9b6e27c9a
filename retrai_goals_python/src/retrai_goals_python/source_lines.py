"""Shows a few lines of the project's source around a location."""

from __future__ import annotations

from pathlib import Path

from retrai_goal_support import text_of

BEFORE = 3
AFTER = 2
MAX_CHARS = 2_000_000


class SourceLines:
    """Reads the project's files, each once; nothing outside the project is ever shown."""

    def __init__(self, project: Path) -> None:
        self._project = project.resolve()
        self._files: dict[str, list[str]] = {}

    def around(self, path: str, line: int) -> str:
        """The lines around `line` (counted from 1) with a mark at it; empty when there are none.

        Args:
            path: relative to the project.
            line: counted from 1.
        """
        lines = self._lines(path)
        if not 1 <= line <= len(lines):
            return ""
        first, last = max(1, line - BEFORE), min(len(lines), line + AFTER)
        width = len(str(last))
        shown: list[str] = []
        for number in range(first, last + 1):
            mark = ">" if number == line else " "
            shown.append(f"{mark} {number:>{width}} | {lines[number - 1]}".rstrip())
        return "\n".join(shown)

    def line(self, path: str, line: int) -> str:
        """One line, counted from 1; empty when it is not there."""
        lines = self._lines(path)
        return lines[line - 1] if 1 <= line <= len(lines) else ""

    def _lines(self, path: str) -> list[str]:
        if path not in self._files:
            full = self._project / path
            try:
                is_inside = full.resolve().is_relative_to(self._project)
            except (OSError, ValueError):
                is_inside = False  # a traceback can name a file that never existed (`<string>`)
            text = text_of(full, MAX_CHARS) if is_inside else ""
            self._files[path] = [line[:200] for line in text.splitlines()]
        return self._files[path]
