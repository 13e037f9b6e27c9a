"""When an evaluation must check everything, and when the project's tree is enough."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

SHARE = 20
"""Looks at everything take at most this fraction (one twentieth) of a run that only reads."""


class Attention:
    """Remembers whether anything but reads happened since the last full look.

    Everything is the protected files, the runner's own files in the environment, and what lies
    outside the tree (a database, say). A turn that only reads cannot have changed any of it.
    Somebody else may have, so it is checked again after a while, and before every check.

    Example:
        >>> attention = Attention()
        >>> attention.is_due()
        True
    """

    def __init__(self) -> None:
        self._due = True
        self._last = 0.0
        self._took_s = 0.0

    def wake(self) -> None:
        """Something may be changed now."""
        self._due = True

    def is_due(self) -> bool:
        """Whether everything must be looked at."""
        return self._due or time.monotonic() - self._last >= SHARE * self._took_s

    @contextmanager
    def given(self) -> Generator[None]:
        """Around a look at everything."""
        started = time.monotonic()
        yield
        self._last = time.monotonic()
        self._took_s = self._last - started
        self._due = False
