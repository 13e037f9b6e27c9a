"""What Ctrl-C and SIGTERM do to a run: the first stops it in order, the second stops everything at
once."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType

import psutil

from .failures import EXIT_INTERRUPTED
from .render.terminal import RunTerminal

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stop_signals(stop: Callable[[], None], terminal: RunTerminal, run_id: str) -> Generator[None]:
    """Call `stop` on the first signal; on the second end every process that was started.

    Needs a running event loop. A second signal counts to the end of the process: what comes after
    the run may last, too.
    """
    loop = asyncio.get_running_loop()
    raw: list[int] = []
    heard: list[int] = []

    def at_once(*_: object) -> None:
        try:
            terminal.pause()
        finally:
            _stop_at_once(terminal, f"stopped at once; `retrai runs resume {run_id}` goes on\n")

    def on_signal(number: int) -> None:
        heard.append(number)
        if len(heard) == 1:
            stop()
            terminal.say("stopping; once more stops at once", "yellow")
        else:
            at_once()

    def on_raw_signal(number: int, _: FrameType | None) -> None:
        raw.append(number)
        if len(raw) > len(heard) + 1:
            at_once()

    # What is ignored stays so: `nohup` and shells without job control mean it.
    heeded = [number for number in _STOP_SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    for number in heeded:
        loop.add_signal_handler(number, on_signal, number)
        # A plugin that blocks the loop keeps it from calling `on_signal`. The loop learns of a
        # signal through a file descriptor, so the handler proper is ours.
        signal.signal(number, on_raw_signal)
    try:
        yield
    finally:
        for number in heeded:
            loop.remove_signal_handler(number)
            if raw:  # else it means what it meant before
                signal.signal(number, at_once)


def _stop_at_once(terminal: RunTerminal, last_words: str) -> None:
    """End every process that this one has started, then this one."""
    for child in psutil.Process().children(recursive=True):
        try:
            child.kill()
        except psutil.NoSuchProcess:
            continue
    with suppress(OSError, ValueError):  # nobody listens any more
        # Past the buffer, which whoever was interrupted may just be writing to.
        os.write(terminal.console.file.fileno(), last_words.encode())
    os._exit(EXIT_INTERRUPTED)
