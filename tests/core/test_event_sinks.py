"""Event sinks: each hears the run in a thread of its own, and none can do the run any harm."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from retrai_core import AgentEvent, EventSink, RunInfo, SinkOptions
from retrai_core.plugins.record import PluginRecord
from retrai_core.runs.event_sinks import EventSinks
from retrai_core.runs.resolved_run import Part

RUN = RunInfo("r1", ("pytest",), "goal-loop", "offline", Path("/project"))


def part(sink: type[EventSink], options: SinkOptions | None = None) -> Part[EventSink]:
    name = sink.__name__.lower()
    record = PluginRecord(name, "sink", f"dist-of-{name}", "1.0", f"{name}:{sink.__name__}")
    return Part(record, sink, options or sink.Options())


def event(number: int, kind: str = "log") -> AgentEvent:
    return AgentEvent(kind, "r1", 0, {"message": str(number), "names": []}, seq=number)  # type: ignore[arg-type]


class Heard:
    """What the sinks of one test did; a class of sinks is made for each test."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.runs: list[RunInfo] = []
        self.closed = 0
        self.threads: set[int] = set()
        self.reached = threading.Event()
        self.busy = threading.Event()
        self.go = threading.Event()

    def sink(self, name: str = "Listening", **methods: Any) -> type[EventSink]:
        seen = self

        class Listening(EventSink):
            def __init__(self, options: Any) -> None:
                super().__init__(options)
                seen.threads.add(threading.get_ident())

            def start(self, run: RunInfo) -> None:
                seen.runs.append(run)
                seen.threads.add(threading.get_ident())

            def on_event(self, event: AgentEvent) -> None:
                seen.heard.append(event.payload["message"])
                seen.threads.add(threading.get_ident())
                if len(seen.heard) == 50:
                    seen.reached.set()

            async def aclose(self) -> None:
                seen.closed += 1
                seen.threads.add(threading.get_ident())

        return type(name, (Listening,), {"name": name.lower(), **methods})

    def waiting(self) -> type[EventSink]:
        """One that hears nothing until it is let go."""

        def on_event(sink: Any, event: AgentEvent) -> None:
            self.busy.set()
            self.go.wait(30)
            super(type(sink), sink).on_event(event)

        return self.sink("Waiting", on_event=on_event)


def raising(error: BaseException) -> Any:
    def work(*_: object) -> None:
        raise error

    return work


async def test_every_sink_hears_every_event_in_order_in_a_thread_of_its_own() -> None:
    one, two = Heard(), Heard()
    problems: list[str] = []
    sinks = EventSinks([part(one.sink()), part(two.sink())], RUN, problems.append)
    for i in range(20):
        sinks.hear(event(i))
    assert await sinks.drain() == []
    assert one.heard == two.heard == [str(i) for i in range(20)]
    assert one.runs == two.runs == [RUN]
    assert one.closed == two.closed == 1
    assert len(one.threads) == len(two.threads) == 1, "built, started, told and closed in it"
    assert len({threading.get_ident()} | one.threads | two.threads) == 3
    assert problems == []


async def test_a_sink_gets_its_options() -> None:
    class Options(SinkOptions):
        path: str

    seen: list[str] = []
    heard = Heard()
    sink = heard.sink(on_event=lambda self, event: seen.append(self.options.path), Options=Options)
    sinks = EventSinks([part(sink, Options(path="a.txt"))], RUN, pytest.fail)
    sinks.hear(event(1))
    assert await sinks.drain() == []
    assert seen == ["a.txt"]


@pytest.mark.parametrize(
    "error", [OSError("disk full"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()]
)
@pytest.mark.parametrize("where", ["__init__", "start", "on_event", "aclose"])
async def test_a_sink_that_raises_is_told_of_once_and_silences_nobody(
    where: str, error: BaseException
) -> None:
    listening, failing = Heard(), Heard()
    told = asyncio.Event()
    problems: list[str] = []

    def on_problem(line: str) -> None:
        problems.append(line)
        told.set()

    bad = part(failing.sink("Failing", **{where: raising(error)}))
    sinks = EventSinks([bad, part(listening.sink())], RUN, on_problem)
    for i in range(10):
        sinks.hear(event(i))
    if where != "aclose":
        async with asyncio.timeout(30):
            await told.wait()
    late = await sinks.drain()
    assert listening.heard == [str(i) for i in range(10)]
    assert listening.closed == 1
    (line,) = [*problems, *late]
    assert (line in late) == (where == "aclose"), "while the run goes on it is told at once"
    assert "the event sink failing@dist-of-failing failed" in line
    assert type(error).__name__ in line
    assert failing.heard == ([str(i) for i in range(10)] if where == "aclose" else [])
    assert failing.closed == (1 if where in ("start", "on_event") else 0)


async def test_a_sink_hears_no_more_after_it_raised_and_is_closed() -> None:
    heard = Heard()
    problems: list[str] = []

    def on_event(sink: Any, event: AgentEvent) -> None:
        heard.heard.append(event.payload["message"])
        if len(heard.heard) == 2:
            raise OSError("full")

    sinks = EventSinks([part(heard.sink(on_event=on_event))], RUN, problems.append)
    for i in range(10):
        sinks.hear(event(i))
    late = await sinks.drain()
    assert heard.heard == ["0", "1"]
    assert heard.closed == 1
    assert len([*problems, *late]) == 1


async def test_what_fails_after_the_run_s_end_is_told_by_drain() -> None:
    heard = Heard()
    problems: list[str] = []

    def on_event(sink: Any, event: AgentEvent) -> None:
        if event.kind == "run_end":
            raise OSError("full")

    sinks = EventSinks([part(heard.sink(on_event=on_event))], RUN, problems.append)
    sinks.hear(event(1))
    sinks.hear(event(2, "run_end"))
    (line,) = await sinks.drain()
    assert "OSError: full" in line
    assert problems == [], "nothing follows the end of a run in its log"


async def test_a_sink_may_be_asynchronous() -> None:
    heard = Heard()

    async def on_event(sink: Any, event: AgentEvent) -> None:
        await asyncio.sleep(0)
        heard.heard.append(event.payload["message"])

    async def start(sink: Any, run: RunInfo) -> None:
        await asyncio.sleep(0)
        heard.runs.append(run)

    sinks = EventSinks([part(heard.sink(on_event=on_event, start=start))], RUN, pytest.fail)
    sinks.hear(event(1))
    sinks.hear(event(2))
    assert await sinks.drain() == []
    assert (heard.heard, heard.runs) == (["1", "2"], [RUN])


async def test_what_a_sink_does_to_an_event_nobody_else_sees() -> None:
    heard, spoiled = Heard(), event(1)

    def on_event(sink: Any, event: AgentEvent) -> None:
        event.payload["names"].append("mine")
        event.payload["message"] = "mine"  # type: ignore[index]

    sinks = EventSinks([part(heard.sink(on_event=on_event))], RUN, pytest.fail)
    sinks.hear(spoiled)
    assert await sinks.drain() == []
    assert spoiled.payload == {"message": "1", "names": []}


async def test_a_slow_sink_slows_neither_the_run_nor_the_other_sinks() -> None:
    slow, quick = Heard(), Heard()
    sinks = EventSinks([part(slow.waiting()), part(quick.sink())], RUN, pytest.fail)
    for i in range(50):
        sinks.hear(event(i))
    assert await asyncio.to_thread(quick.reached.wait, 30)
    assert len(quick.heard) == 50
    assert slow.heard == []
    slow.go.set()
    assert await sinks.drain() == []
    assert slow.heard == [str(i) for i in range(50)], "it was late, and it missed nothing"


async def test_a_sink_that_hangs_is_given_up_at_the_end_and_hears_no_more() -> None:
    hanging, listening = Heard(), Heard()
    sinks = EventSinks([part(hanging.waiting()), part(listening.sink())], RUN, pytest.fail)
    for i in range(3):
        sinks.hear(event(i))
    assert await asyncio.to_thread(hanging.busy.wait, 30)
    (line,) = await sinks.drain(limit_s=0.1)
    assert "the event sink waiting@dist-of-waiting has not come to its end" in line
    assert listening.heard == ["0", "1", "2"]
    hanging.go.set()
    assert await sinks.drain() == [line], "it is told once"
    assert hanging.heard == ["0"]
    assert hanging.closed == 1


@pytest.mark.parametrize("where", ["__init__", "start", "on_event"])
async def test_sinks_that_hang_leave_the_run_s_own_threads_alone(where: str) -> None:
    heard = [Heard() for _ in range(40)]

    def hanging(one: Heard) -> type[EventSink]:
        def work(*_: object) -> None:
            one.busy.set()
            one.go.wait(30)

        return one.sink("Hanging", **{where: work})

    sinks = EventSinks([part(hanging(one)) for one in heard], RUN, pytest.fail)
    sinks.hear(event(0))
    async with asyncio.timeout(30):
        for one in heard:
            assert await asyncio.to_thread(one.busy.wait, 10)
        assert await asyncio.to_thread(lambda: "still free") == "still free"
    for one in heard:
        one.go.set()
    await sinks.drain()


HANGING = """
import asyncio, threading
from pathlib import Path
from retrai_core import AgentEvent, EventSink, RunInfo
from retrai_core.runs.resolved_run import Part
from retrai_core.plugins.record import PluginRecord
from retrai_core.runs.event_sinks import EventSinks

busy = threading.Event()

class Hanging(EventSink):
    name = "hanging"
    def on_event(self, event):
        busy.set()
        threading.Event().wait()

async def main():
    record = PluginRecord("hanging", "sink", "acme", "1.0", "acme:Hanging")
    run = RunInfo("r1", (), "a", "m", Path("."))
    sinks = EventSinks([Part(record, Hanging, Hanging.Options())], run, print)
    sinks.hear(AgentEvent("log", "r1", 0, {}))
    await asyncio.to_thread(busy.wait)
    await sinks.drain(limit_s=0.1)
    print("drained")

asyncio.run(main())
print("ended")
"""


def test_a_sink_that_hangs_keeps_the_process_from_ending_no_longer_than_its_limit() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANGING], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.split() == ["drained", "ended"], done.stderr
