"""The process that runs LiteLLM, as retrai sees it: started early, asked, ended with the run.

LiteLLM takes seconds to import and milliseconds after each answer to keep its books. In a process
of its own both happen on another core, beside retrai's own imports and the baseline check.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import IO, Any, BinaryIO, cast

from retrai_core import ModelError

from .frames import Frame, framed, frames_of
from .secrets_filter import redact
from .sent import KEPT_AT_LEAST, Request, Sent

START_LIMIT_S = 120.0
"""For LiteLLM's import, on the slowest of machines."""
FITS_AN_EMPTY_PIPE = 32_768
"""A pipe takes at least 64 kB before a writer has to wait (Linux and macOS)."""
_END_LIMIT_S = 5.0

Hears = Callable[[Frame], None]


class LiteLLMProcess:
    """Starts the process when it is first needed, and again when it has died.

    It inherits the environment, where the keys are; none is written to its arguments. A caller's
    own key stands in the requests of its model, and nowhere else. It ends when `close` is called,
    and by itself as soon as retrai is gone. May be used from any thread and from any event loop.

    Args:
        environ: its environment variables; retrai's own when left out.
        keep: so many messages of earlier requests stay there, since later ones repeat them.
    """

    def __init__(self, environ: Mapping[str, str] | None = None, keep: int = KEPT_AT_LEAST) -> None:
        self._environ = environ
        self._keep = keep
        self._model = ""
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._running: _Running | None = None

    def start(self, model: str) -> None:
        """Start it, to be made ready for `model`, and do not wait until it is."""
        with self._lock:
            self._model = model
            self._alive()

    def close(self) -> None:
        """End it at once, whatever it is doing."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running.end()

    async def ask(self, request: Request, limit_s: float) -> AsyncIterator[Frame]:
        """What comes back, frame by frame; the last one has `done`.

        Where it has `priced` too, `cost` is a future of the cost in US dollars, None when unknown.

        Args:
            request: what is asked.
            limit_s: seconds that one frame may be waited for, beside LiteLLM's import.

        Raises:
            ModelError: the model's server refused, or the process cannot answer.
        """
        loop = asyncio.get_running_loop()
        frames: asyncio.Queue[Frame] = asyncio.Queue()

        def hear(frame: Frame) -> None:
            with suppress(RuntimeError):  # the loop has ended; nobody waits any more
                loop.call_soon_threadsafe(frames.put_nowait, frame)

        number = next(self._numbers)
        running = self._alive_with(number, _priced(hear))
        ended = False
        try:
            if running.post(number, request) <= FITS_AN_EMPTY_PIPE:
                running.flush()
            else:
                await asyncio.to_thread(running.flush)
            while not ended:
                try:
                    async with asyncio.timeout(START_LIMIT_S + limit_s):
                        frame = await frames.get()
                except TimeoutError:
                    raise _silent(START_LIMIT_S + limit_s) from None
                ended = "done" in frame or "error" in frame
                yield _checked(frame)
        finally:
            if not ended:
                running.cancel(number)

    def ask_and_wait(self, request: Request, limit_s: float) -> Iterator[Frame]:
        """The same for a caller without an event loop: see `ask`."""
        frames: queue.SimpleQueue[Frame] = queue.SimpleQueue()
        number = next(self._numbers)
        running = self._alive_with(number, _priced(frames.put))
        ended = False
        try:
            running.post(number, request)
            running.flush()
            while not ended:
                try:
                    frame = frames.get(timeout=START_LIMIT_S + limit_s)
                except queue.Empty:
                    raise _silent(START_LIMIT_S + limit_s) from None
                ended = "done" in frame or "error" in frame
                yield _checked(frame)
        finally:
            if not ended:
                running.cancel(number)

    def _alive_with(self, number: int, hear: Hears) -> _Running:
        with self._lock:
            running = self._alive()
            running.listen(number, hear)
            return running

    def _alive(self) -> _Running:
        if self._running is None or self._running.is_over:
            if self._running is not None:
                self._running.end()
            self._running = _Running(self._model, self._environ, self._keep)
        return self._running


class _Running:
    """One life of the process."""

    def __init__(self, model: str, environ: Mapping[str, str] | None, keep: int) -> None:
        self._errors: IO[bytes] | None = None
        if "LITELLM_LOG" not in os.environ:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `end`
        # `-P`: the project, in whose folder we may be, must not stand in for LiteLLM's modules.
        command = [sys.executable, "-P", "-m", f"{__package__}.server", model]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environ,
            start_new_session=True,  # Ctrl-C on the terminal is retrai's
        )
        self._listeners: dict[int, Hears] = {}
        self._lock = threading.Lock()
        self._sent = Sent(keep)
        self._outgoing: deque[bytes] = deque()
        self._order_lock = threading.Lock()
        self._write_lock = threading.Lock()
        self.is_over = False
        self._reader = threading.Thread(target=self._read, name="litellm", daemon=True)
        self._reader.start()

    def listen(self, number: int, hear: Hears) -> None:
        with self._lock:
            self._listeners[number] = hear
        if self.is_over:
            self._tell_everyone(self._how_it_ended())

    def post(self, number: int, request: Request) -> int:
        """Queue a request, in the order in which it counts on earlier ones: its size in bytes.

        Raises:
            TypeError, ValueError, RecursionError: something in it cannot be made into JSON.
        """
        with self._order_lock:
            frame = self._sent.frame(number, request)
            try:
                data = framed(frame)
            except Exception:
                self._sent.take_back(frame)
                raise
            self._outgoing.append(data)
        return len(data)

    def flush(self) -> None:
        """Write what is queued, by whomever."""
        assert self._process.stdin is not None
        with self._write_lock, suppress(OSError, ValueError):  # the reader notices its end
            while self._outgoing:
                self._process.stdin.write(self._outgoing.popleft())
            self._process.stdin.flush()

    def cancel(self, number: int) -> None:
        """Give a request up; nobody waits for it any more."""
        with self._lock:
            self._listeners.pop(number, None)
        if not self.is_over:
            self.post(number, Request("cancel"))
            self.flush()

    def end(self) -> None:
        self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_LIMIT_S)
        self._reader.join(_END_LIMIT_S)
        for file in (self._process.stdin, self._process.stdout, self._errors):
            if file is not None:
                with suppress(OSError):
                    file.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for frame in frames_of(cast("BinaryIO", self._process.stdout)):
            is_last = "error" in frame or "cost_usd" in frame
            with self._lock:
                hear = self._listeners.get(frame["id"])
                if is_last or ("done" in frame and "priced" not in frame):
                    self._listeners.pop(frame["id"], None)
            if hear is not None:
                hear(frame)
        self.is_over = True
        self._tell_everyone(self._how_it_ended())

    def _tell_everyone(self, frame: Frame) -> None:
        with self._lock:
            listeners = list(self._listeners.values())
            self._listeners.clear()
        for hear in listeners:
            hear(frame)

    def _how_it_ended(self) -> Frame:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_LIMIT_S)
        code = self._process.returncode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        last = self._last_words()
        message = f"the process that runs LiteLLM ended ({how}){': ' if last else ''}{last}"
        return {"error": {"message": message, "hint": "", "fatal": False}}

    def _last_words(self) -> str:
        if self._errors is None:
            return ""
        try:
            self._errors.seek(0)
            text = self._errors.read().decode(errors="replace").strip()
        except (OSError, ValueError):  # closed meanwhile
            return ""
        return redact(text.splitlines()[-1][:300]) if text else ""


def _priced(hear: Hears) -> Hears:
    """Hear what an answer cost as a future in its frame: it is reckoned after the answer."""
    cost: Future[float | None] = Future()

    def heard(frame: Frame) -> None:
        if "cost_usd" in frame:
            cost.set_result(frame["cost_usd"])
            return
        if "error" in frame:
            cost.cancel()
        elif frame.get("priced"):
            frame["cost"] = cost
        hear(frame)

    return heard


def _checked(frame: Frame) -> Frame:
    """The frame, unless it brings an error."""
    error: dict[str, Any] | None = frame.get("error")
    if error is not None:
        raise ModelError(error["message"], hint=error["hint"], fatal=error["fatal"])
    return frame


def _silent(limit_s: float) -> ModelError:
    return ModelError(f"the process that runs LiteLLM said nothing for {limit_s:.0f} s")
