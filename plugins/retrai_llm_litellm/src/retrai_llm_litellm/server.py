"""The process that runs LiteLLM: answers what retrai asks, and ends as soon as retrai is gone.

Started by `process`, which says how it is spoken to; not for people.
"""

from __future__ import annotations

import asyncio
import os
import select
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, BinaryIO

from retrai_core import ModelError

from .frames import Frame, FrameReader, framed
from .kept import KeptValues
from .lazy_litellm import load_litellm, rehearse
from .preparing import PreparingExecutor
from .secrets_filter import redact

if TYPE_CHECKING:
    from .answering import Answering

_REQUEST: ContextVar[int] = ContextVar("request")


class Server:
    """Answers requests side by side, each in a task of its own.

    Args:
        requests: the pipe they come from; its end is the end of the process.
        answers: where the frames go.
    """

    def __init__(self, requests: int, answers: BinaryIO) -> None:
        self._requests, self._answers = requests, answers
        self._reader = FrameReader(requests)
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(PreparingExecutor())
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._early: list[Frame] = []
        self._kept = KeptValues()
        self._answering: Answering | None = None

    def serve(self, model: str) -> None:
        """Make LiteLLM ready for `model`, then answer until the end of the process."""
        with self._listening():
            load_litellm()
            from .answering import Answering

            self._answering = Answering(lambda message: self._say({"report": message}))
            if model and not self._early:
                rehearse(model)
        for frame in self._early:
            self._loop.call_soon(self._take, frame)
        # From here on without a thread between: two of them would wake up for every request.
        self._loop.add_reader(self._requests, self._read)
        self._loop.run_forever()

    @contextmanager
    def _listening(self) -> Generator[None]:
        """Notice requests, and the end, in the middle of an import too."""
        woken, wake = os.pipe()

        def listen() -> None:
            while woken not in select.select([self._requests, woken], [], [])[0]:
                self._early += self._arrived()

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        try:
            yield
        finally:
            os.close(wake)
            thread.join()
            os.close(woken)

    def _arrived(self) -> list[Frame]:
        frames = self._reader.read()
        if frames is None:
            os._exit(0)  # nobody is left who could hear how a tidier end went
        return frames

    def _read(self) -> None:
        for frame in self._arrived():
            self._take(frame)

    def _take(self, frame: Frame) -> None:
        number: int = frame["id"]
        if frame["op"] == "cancel":
            task = self._tasks.get(number)
            if task is not None:
                task.cancel()
            return
        self._kept.resolve(frame)
        task = self._loop.create_task(self._answer(frame))
        self._tasks[number] = task
        task.add_done_callback(lambda _: self._tasks.pop(number, None))

    async def _answer(self, frame: Frame) -> None:
        assert self._answering is not None
        _REQUEST.set(frame["id"])
        try:
            await self._answering.answer(frame, self._say)
        except ModelError as error:
            told = {"message": error.message, "hint": error.hint, "fatal": error.fatal}
            self._say({"error": told})
        except Exception as error:  # noqa: BLE001 - whatever LiteLLM raises is told to retrai
            text = redact(f"LiteLLM failed: {type(error).__name__}: {error}")
            self._say({"error": {"message": text, "hint": "", "fatal": False}})

    def _say(self, frame: Frame) -> None:
        self._answers.write(framed({"id": _REQUEST.get(), **frame}))
        self._answers.flush()


def main() -> None:
    """Serve on standard input and output; what LiteLLM prints goes to standard error."""
    os.umask(0o077)  # what LiteLLM keeps of a login is its owner's alone
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    Server(os.dup(0), answers).serve(sys.argv[1])


if __name__ == "__main__":
    main()
