"""Records what one tool call reads and writes, even while other calls run."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

MAX_BYTES = 256_000
"""A larger file is named, and its difference is not told."""
MAX_DIFF_CHARS = 20_000
"""Of all differences of one call together."""
_MAX_READ = 20
"""A call that reads more files than these searches; only what it writes is told."""


@dataclass
class Touched:
    """The files of one call.

    Attributes:
        read: paths that were read.
        written: path of each written file, with its bytes before the call (None: there was none, or
            too many) and after it.
    """

    read: dict[str, None] = field(default_factory=dict[str, None])
    written: dict[str, tuple[bytes | None, bytes]] = field(
        default_factory=dict[str, tuple[bytes | None, bytes]]
    )

    def note_write(self, path: str, before: bytes | None, after: bytes) -> None:
        """A file was written; of one written twice, what it held first counts as before."""
        self.written[path] = (self.written.get(path, (before, b""))[0], after)

    def locations(self) -> list[dict[str, str]]:
        """Each file as `{path}`."""
        read = self.read if len(self.read) <= _MAX_READ else {}
        return [{"path": path} for path in dict.fromkeys([*self.written, *read])]

    def changes(self, redact: Callable[[str], str]) -> list[dict[str, str]]:
        """Each written file as `{path, diff}`.

        Args:
            redact: applied before a difference is cut, when a secret is still whole.
        """
        left, told = MAX_DIFF_CHARS, list[dict[str, str]]()
        for path, (before, after) in self.written.items():
            diff = redact(_difference(path, before, after))[:left]
            left -= len(diff)
            told.append({"path": path, "diff": diff})
        return told


_call: ContextVar[Touched | None] = ContextVar("touched", default=None)


@contextmanager
def recorded() -> Generator[Touched]:
    """Record what is read and written in the block, in its tasks and threads."""
    touched = Touched()
    token = _call.set(touched)
    try:
        yield touched
    finally:
        _call.reset(token)


def touched_now() -> Touched | None:
    """The record of the call that is being made; None outside of one."""
    return _call.get()


def _difference(path: str, before: bytes | None, after: bytes) -> str:
    if max(len(before or b""), len(after)) > MAX_BYTES or b"\0" in after:
        return ""
    old, new = (
        (text or b"").decode("utf-8", errors="replace").splitlines(keepends=True)
        for text in (before, after)
    )
    source = "/dev/null" if before is None else f"a/{path}"
    lines = difflib.unified_diff(old, new, source, f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
