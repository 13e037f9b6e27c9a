"""Imports a plugin without letting the import change our process."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, TextIO, cast


class ImportMisbehavedError(ImportError):
    """An import had a side effect; the message says which."""


class _PrintCatcher:
    """Stands in for `sys.stdout` and keeps only what the importing thread prints.

    Code that keeps it (a logging handler that the import made) writes to the real one afterwards.
    """

    def __init__(self, beneath: TextIO) -> None:
        self._beneath = beneath
        self._thread = threading.get_ident()
        self.is_over = False
        self.caught = ""

    def write(self, text: str) -> int:
        if self.is_over or threading.get_ident() != self._thread:
            return self._beneath.write(text)
        self.caught += text
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._beneath, name)


@contextmanager
def watched_import() -> Generator[None]:
    """Run an import; put back what it changed, and say so.

    Raises:
        ImportMisbehavedError: it called `sys.exit`, printed to standard output, or changed the
            working directory or a signal handler.
    """
    catcher = _PrintCatcher(sys.stdout)
    folder = _working_directory()
    handlers = _signal_handlers()
    beneath, sys.stdout = sys.stdout, cast(TextIO, catcher)
    try:
        yield
    except SystemExit as error:
        raise ImportMisbehavedError(f"it ends the program (SystemExit: {error.code})") from error
    finally:
        sys.stdout = beneath
        catcher.is_over = True
        did = _restored_directory(folder) + _restored_handlers(handlers)
    if catcher.caught.strip():
        did.insert(0, f"it prints to standard output: {catcher.caught.strip()[:80]!r}")
    if did:
        raise ImportMisbehavedError("; ".join(did))


def _working_directory() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:  # the folder we stand in was removed
        return None


def _restored_directory(before: str | None) -> list[str]:
    after = _working_directory()
    if after == before or before is None:
        return []
    os.chdir(before)
    return [f"it changes the working directory to {after}"]


_Handler = Callable[[int, Any], Any] | int | signal.Handlers | None


def _signal_handlers() -> dict[int, _Handler]:
    if threading.current_thread() is not threading.main_thread():
        return {}  # only the main thread can set one; what changes meanwhile is not the import's
    return {number: signal.getsignal(number) for number in signal.valid_signals()}


def _restored_handlers(before: dict[int, _Handler]) -> list[str]:
    changed = sorted(n for n, handler in _signal_handlers().items() if handler != before[n])
    for number in changed:
        handler = before[number]
        if handler is not None:  # None was not set from Python, and cannot be set back from it
            signal.signal(number, handler)
    return [f"it changes the handler of {signal.Signals(n).name}" for n in changed]
