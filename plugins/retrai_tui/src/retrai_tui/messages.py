"""What the manager tells a person while there is no run yet whose events could say it."""

from __future__ import annotations

from collections.abc import Callable


class Messages:
    """Keeps lines until the screen is there to show them."""

    def __init__(self) -> None:
        self._kept: list[str] = []
        self._show: Callable[[str], None] | None = None

    def add(self, line: str) -> None:
        """Show a line, or keep it."""
        if self._show is None:
            self._kept.append(line)
        else:
            self._show(line)

    def connect(self, show: Callable[[str], None]) -> None:
        """Show what was kept, and from now on each line as it comes."""
        self._show = show
        for line in self._kept:
            show(line)
        self._kept.clear()
