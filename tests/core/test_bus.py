"""Every reader of the bus hears everything in order, and none of them slows the run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrai_core import AgentEvent
from retrai_core.bus import AsyncEventBus, Subscription
from retrai_core.runs.log import RunLog


def event(number: int) -> AgentEvent:
    return AgentEvent("log", "r1", 0, {"level": "info", "message": str(number)})


def number(heard: AgentEvent) -> int:
    return int(heard.payload["message"])


@pytest.fixture
def log(tmp_path: Path) -> RunLog:
    return RunLog(tmp_path / "events.jsonl")


def logged_bus(log: RunLog) -> AsyncEventBus:
    """A bus as the run manager makes it: the log hears first, and gives back what was missed."""
    bus = AsyncEventBus(read_back=log.read)
    bus.attach(log.append)
    return bus


async def rest(reader: Subscription) -> list[int]:
    return [number(heard) async for heard in reader]


async def test_every_reader_hears_everything_in_order() -> None:
    bus = AsyncEventBus()
    readers = [bus.subscribe() for _ in range(3)]
    for i in range(50):
        bus.publish(event(i))
    bus.close()
    assert [await rest(reader) for reader in readers] == [list(range(50))] * 3


async def test_a_reader_hears_what_comes_after_it_subscribed() -> None:
    bus = AsyncEventBus()
    bus.publish(event(0))
    late = bus.subscribe()
    bus.publish(event(1))
    bus.close()
    assert await rest(late) == [1]


async def test_a_reader_may_ask_for_what_was_said_before_it_came(log: RunLog) -> None:
    bus = logged_bus(log)
    for i in range(3):
        bus.publish(event(i))
    late = bus.subscribe(size=2, after=0)
    for i in range(3, 10):
        bus.publish(event(i))
    bus.close()
    assert await rest(late) == list(range(10))


async def test_a_slow_reader_gets_what_its_queue_dropped_from_the_run_log(log: RunLog) -> None:
    bus = logged_bus(log)
    reader = bus.subscribe(size=3)
    for i in range(100):
        bus.publish(event(i))
    bus.close()
    assert await rest(reader) == list(range(100))


async def test_a_reader_that_falls_behind_again_while_it_reads_back_loses_nothing(
    log: RunLog,
) -> None:
    bus = logged_bus(log)
    reader = bus.subscribe(size=2)
    heard: list[int] = []
    published = 0
    for _ in range(5):
        bus.publish(event(published))
        published += 1
    async for one in reader:
        heard.append(number(one))
        if published == 200:
            bus.close()
        else:
            for _ in range(5):
                bus.publish(event(published))
                published += 1
    assert heard == list(range(200))


async def test_publishing_waits_for_no_reader(log: RunLog) -> None:
    bus = logged_bus(log)
    never_read = bus.subscribe(size=1)
    for i in range(2000):
        bus.publish(event(i))  # no await: were it to wait, the test could not go on
    bus.close()
    assert len(await rest(never_read)) == 2000


async def test_events_of_a_thread_come_in_its_order() -> None:
    bus = AsyncEventBus()
    reader = bus.subscribe()
    await asyncio.to_thread(lambda: [bus.publish(event(i)) for i in range(200)])
    bus.close()
    assert await rest(reader) == list(range(200))


async def test_what_a_thread_published_before_the_close_is_not_lost(log: RunLog) -> None:
    bus = logged_bus(log)
    reader = bus.subscribe()
    thread = threading.Thread(target=bus.publish, args=(event(1),))
    thread.start()
    thread.join(30)  # and the loop has had no turn to hear of it
    bus.publish(event(2))
    bus.close()
    assert await rest(reader) == [1, 2]
    assert len(log.read(0, 10)) == 2


async def test_many_threads_lose_nothing_between_them() -> None:
    bus = AsyncEventBus()
    reader = bus.subscribe()

    def publish(first: int) -> None:
        for i in range(first, first + 100):
            bus.publish(event(i))

    await asyncio.gather(*(asyncio.to_thread(publish, 100 * i) for i in range(4)))
    bus.close()
    heard = await rest(reader)
    assert sorted(heard) == list(range(400))
    for first in range(0, 400, 100):
        mine = [i for i in heard if first <= i < first + 100]
        assert mine == sorted(mine)


def test_a_thread_that_outlives_the_run_may_still_publish() -> None:
    async def short_run() -> AsyncEventBus:
        return AsyncEventBus()

    bus = asyncio.run(short_run())
    heard: list[Exception] = []

    def publish() -> None:
        try:
            bus.publish(event(1))
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not be raised
            heard.append(error)

    thread = threading.Thread(target=publish)
    thread.start()
    thread.join(10)
    assert heard == []


async def test_closing_ends_every_reader_also_those_that_wait() -> None:
    bus = AsyncEventBus()
    waiting = [asyncio.create_task(rest(bus.subscribe())) for _ in range(3)]
    await asyncio.sleep(0)
    bus.close()
    async with asyncio.timeout(10):
        assert await asyncio.gather(*waiting) == [[], [], []]


async def test_a_reader_of_a_closed_bus_ends_at_once() -> None:
    bus = AsyncEventBus()
    bus.close()
    async with asyncio.timeout(10):
        assert await rest(bus.subscribe()) == []


async def test_a_closed_bus_takes_nothing_more(log: RunLog) -> None:
    bus = logged_bus(log)
    reader = bus.subscribe()
    bus.close()
    bus.publish(event(0))
    assert await rest(reader) == []
    assert log.read(0, 10) == []


async def test_iter_events_ends_with_the_bus() -> None:
    bus = AsyncEventBus()
    events: AsyncIterator[AgentEvent] = bus.iter_events()
    first = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0)  # it subscribes when it is first asked
    bus.publish(event(0))
    assert number(await first) == 0
    bus.close()
    assert [heard async for heard in events] == []


@settings(max_examples=150)
@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    steps=st.lists(st.one_of(st.none(), st.integers(0, 2)), max_size=40),
)
def test_whatever_the_order_of_publishing_and_reading_each_reader_gets_exactly_the_sequence(
    sizes: list[int], steps: list[int | None]
) -> None:
    async def story() -> tuple[int, list[list[int]]]:
        kept: list[AgentEvent] = []
        bus = AsyncEventBus(read_back=lambda first, last: kept[first - 1 : last - 1])
        bus.attach(kept.append)
        readers = [bus.subscribe(size) for size in sizes]
        streams = [aiter(reader) for reader in readers]
        heard: list[list[int]] = [[] for _ in readers]
        published = 0
        for step in steps:
            if step is None:
                bus.publish(event(published))
                published += 1
            else:
                which = step % len(readers)
                if len(heard[which]) < published:
                    heard[which].append(number(await anext(streams[which])))
        bus.close()
        for stream, so_far in zip(streams, heard, strict=True):
            so_far += [number(one) async for one in stream]
        return published, heard

    published, heard = asyncio.run(story())
    assert heard == [list(range(published))] * len(sizes)
