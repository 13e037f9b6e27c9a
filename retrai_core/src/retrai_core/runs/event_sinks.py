"""Event sinks: each has a thread of its own, so that a slow one delays nothing else."""

from __future__ import annotations

import asyncio
import copy
import inspect
import threading
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from queue import SimpleQueue

from ..contracts.event_sink import EventSink, RunInfo
from ..events import AgentEvent
from .resolved_run import Part

DRAIN_LIMIT_S = 5.0


class EventSinks:
    """The event sinks of one run.

    A sink that raises receives no more events; one that is still busy at the end of the run has
    five seconds. Create and use this on the run's event loop.

    Args:
        sinks: the chosen sinks; each is built in its thread.
        run: what they are told at the start.
        on_problem: hears one line about each sink that fails while the run goes on; called on the
            event loop. What fails after the `run_end` event is what `drain` gives.
    """

    def __init__(
        self,
        sinks: Iterable[Part[EventSink]],
        run: RunInfo,
        on_problem: Callable[[str], None],
    ) -> None:
        self._on_problem = on_problem
        self._has_ended = False
        self._late: list[str] = []
        loop = asyncio.get_running_loop()

        def tell(problem: str) -> None:
            with suppress(RuntimeError):  # the loop has ended, and the run with it
                loop.call_soon_threadsafe(self._tell, problem)

        self._threads = [_SinkThread(sink, run, tell) for sink in sinks]

    def hear(self, event: AgentEvent) -> None:
        """Hand an event to every sink; returns at once."""
        self._has_ended = self._has_ended or event.kind == "run_end"
        for thread in self._threads:
            thread.hear(event)

    async def drain(self, limit_s: float = DRAIN_LIMIT_S) -> list[str]:
        """Let every sink hear the rest and close, within the limit.

        Returns:
            a line for each sink that failed since the run's end, or did not come to its end.
        """
        self._has_ended = True
        ends = [asyncio.wrap_future(thread.end()) for thread in self._threads]
        if ends:
            await asyncio.wait(ends, timeout=limit_s)
        for thread in self._threads:
            if problem := thread.give_up(f"has not come to its end {limit_s:g} s after the run's"):
                self._tell(problem)
        return self._late

    def _tell(self, problem: str) -> None:
        if self._has_ended:
            self._late.append(problem)
        else:
            self._on_problem(problem)


class _SinkThread:
    """The thread of one sink. It is not from a pool: the process would wait for it at its end, and
    a hanging sink would block the pool."""

    def __init__(self, part: Part[EventSink], run: RunInfo, tell: Callable[[str], None]) -> None:
        self._part = part
        self._run = run
        self._tell = tell
        self._waiting: SimpleQueue[AgentEvent | None] = SimpleQueue()
        self._is_over = False
        self._done: Future[None] = Future()
        name = f"sink {part.record.full_name}"
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def hear(self, event: AgentEvent) -> None:
        if not self._is_over:
            self._waiting.put(event)

    def end(self) -> Future[None]:
        """No more events; the future is done when the sink is closed."""
        self._waiting.put(None)
        return self._done

    def give_up(self, why: str) -> str:
        """Let it hear no more; the line that says so, "" where it has ended by itself."""
        if self._done.done():
            return ""
        already_told, self._is_over = self._is_over, True
        return "" if already_told else self._line(why)

    def _work(self) -> None:
        runner = asyncio.Runner()  # its event loop is made when something asynchronous is called
        try:
            self._serve(runner)
        finally:
            with suppress(Exception):
                runner.close()
            self._done.set_result(None)

    def _serve(self, runner: asyncio.Runner) -> None:
        built: list[EventSink] = []
        build = partial(self._part.cls, self._part.options)
        if not self._attempt("built", lambda: built.append(build())):
            return
        sink = built[0]
        if self._attempt("started", lambda: _finish(runner, sink.start(self._run))):
            while not self._is_over and (event := self._waiting.get()) is not None:
                own = replace(event, payload=copy.deepcopy(event.payload))
                self._attempt("told of an event", partial(_hear, runner, sink, own))
        self._attempt("closed", lambda: _finish(runner, sink.aclose()))

    def _attempt(self, what: str, work: Callable[[], object]) -> bool:
        """Whether the sink did it. What it raises first is told, and it hears no more."""
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - SystemExit too would end the thread unheard
            already_told, self._is_over = self._is_over, True
            if not already_told:
                why = " ".join(str(error).split()) or "no message"
                self._tell(self._line(f"failed when it was {what}: {type(error).__name__}: {why}"))
            return False
        return True

    def _line(self, why: str) -> str:
        return f"the event sink {self._part.record.full_name} {why}; it hears no more of this run"


def _hear(runner: asyncio.Runner, sink: EventSink, event: AgentEvent) -> None:
    _finish(runner, sink.on_event(event))


def _finish(runner: asyncio.Runner, answer: object) -> None:
    """Wait for what an asynchronous method has begun."""
    if inspect.isawaitable(answer):
        runner.run(_awaited(answer))


async def _awaited(answer: Awaitable[object]) -> None:
    await answer
