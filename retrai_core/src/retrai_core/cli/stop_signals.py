"""What Ctrl-C and SIGTERM do to a run: the first ends it tidily, the second everything at once."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

import psutil

from .failures import EXIT_INTERRUPTED
from .render.terminal import RunTerminal

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stop_signals(stop: Callable[[], None], terminal: RunTerminal) -> Generator[None]:
    """Call `stop` on the first signal; on the second end every process that was started.

    Needs a running event loop.
    """
    loop = asyncio.get_running_loop()
    raw: list[int] = []
    heard: list[int] = []

    def on_signal(number: int) -> None:
        heard.append(number)
        if len(heard) == 1:
            terminal.say("stopping; once more stops at once", "yellow")
            stop()
        else:
            terminal.pause()
            _stop_at_once()

    def on_raw_signal(number: int, _: FrameType | None) -> None:
        raw.append(number)
        if len(raw) > len(heard) + 1:
            terminal.pause()
            _stop_at_once()

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


def _stop_at_once() -> None:
    """End every process that this one has started, then this one."""
    for child in psutil.Process().children(recursive=True):
        try:
            child.kill()
        except psutil.NoSuchProcess:
            continue
    os._exit(EXIT_INTERRUPTED)
