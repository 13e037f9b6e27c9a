"""The holder's bus: every event gets its number, is kept once, in order, and holds no run up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrai_core import AgentEvent, RetraiError
from retrai_core.bus import EventBus


def event(number: int) -> AgentEvent:
    return AgentEvent("log", "r1", 0, {"level": "info", "message": str(number)})


def number(heard: AgentEvent) -> int:
    return int(heard.payload["message"])


class Kept:
    """What a bus has kept, batch by batch; `broken` refuses the next one."""

    def __init__(self) -> None:
        self.events: list[AgentEvent] = []
        self.batches = 0
        self.broken = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def append(self, events: Sequence[AgentEvent]) -> int:
        await self.gate.wait()
        if self.broken:
            raise RetraiError("the disk is full")
        self.batches += 1
        self.events += events
        return self.events[-1].seq

    @property
    def numbers(self) -> list[int]:
        return [number(kept) for kept in self.events]

    @property
    def seqs(self) -> list[int]:
        return [kept.seq for kept in self.events]


async def test_events_are_numbered_and_kept_in_order() -> None:
    kept = Kept()
    bus = EventBus(kept.append)
    for i in range(50):
        bus.publish(event(i))
    await bus.flush()
    assert kept.numbers == list(range(50))
    assert kept.seqs == list(range(1, 51))


async def test_the_numbers_of_a_resumed_run_go_on() -> None:
    kept = Kept()
    bus = EventBus(kept.append, last_seq=7)
    bus.publish(event(0))
    await bus.flush()
    assert kept.seqs == [8]


async def test_what_is_published_is_kept_without_a_flush() -> None:
    kept = Kept()
    bus = EventBus(kept.append)
    bus.publish(event(0))
    async with asyncio.timeout(10):
        while not kept.events:
            await asyncio.sleep(0)
    assert kept.seqs == [1]


async def test_publishing_waits_for_nothing_and_what_comes_together_is_one_write() -> None:
    kept = Kept()
    kept.gate.clear()
    bus = EventBus(kept.append)
    for i in range(2000):
        bus.publish(event(i))  # no await: were it to wait, the test could not go on
    await asyncio.sleep(0)
    kept.gate.set()
    await bus.flush()
    assert kept.numbers == list(range(2000))
    assert kept.batches == 1


async def test_a_flush_waits_for_what_is_just_being_written() -> None:
    kept = Kept()
    kept.gate.clear()
    bus = EventBus(kept.append)
    bus.publish(event(0))
    await asyncio.sleep(0)
    flushing = asyncio.ensure_future(bus.flush())
    await asyncio.sleep(0)
    assert not flushing.done()
    kept.gate.set()
    await flushing
    assert kept.seqs == [1]


async def test_events_of_a_thread_come_in_its_order() -> None:
    kept = Kept()
    bus = EventBus(kept.append)
    await asyncio.to_thread(lambda: [bus.publish(event(i)) for i in range(200)])
    await bus.flush()
    assert kept.numbers == list(range(200))
    assert kept.seqs == list(range(1, 201))


async def test_what_a_thread_published_before_comes_before() -> None:
    kept = Kept()
    bus = EventBus(kept.append)
    thread = threading.Thread(target=bus.publish, args=(event(1),))
    thread.start()
    thread.join(30)  # and the loop has had no turn to hear of it
    bus.publish(event(2))
    await bus.aclose()
    assert kept.numbers == [1, 2]


async def test_many_threads_lose_nothing_between_them() -> None:
    kept = Kept()
    bus = EventBus(kept.append)

    def publish(first: int) -> None:
        for i in range(first, first + 100):
            bus.publish(event(i))

    await asyncio.gather(*(asyncio.to_thread(publish, 100 * i) for i in range(4)))
    await bus.flush()
    assert sorted(kept.numbers) == list(range(400))
    assert kept.seqs == list(range(1, 401))
    for first in range(0, 400, 100):
        mine = [i for i in kept.numbers if first <= i < first + 100]
        assert mine == sorted(mine)


def test_a_thread_that_outlives_the_run_may_still_publish() -> None:
    async def short_run() -> EventBus:
        return EventBus(Kept().append)

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


async def test_an_event_that_cannot_be_kept_is_told_to_who_publishes_next() -> None:
    kept = Kept()
    bus = EventBus(kept.append)
    kept.broken = True
    bus.publish(event(0))
    with pytest.raises(RetraiError, match="disk is full"):
        await bus.flush()
    with pytest.raises(RetraiError, match="disk is full"):
        bus.publish(event(1))
    await asyncio.to_thread(bus.publish, event(2))  # a thread cannot do anything about it
    kept.broken = False
    with pytest.raises(RetraiError, match="disk is full"):
        await bus.flush()
    await bus.aclose()
    assert kept.events == [], "what came later must not stand behind a gap"


async def test_the_first_listener_hears_everything_and_a_later_one_what_comes_after_it() -> None:
    bus = EventBus(Kept().append)
    first: list[tuple[int, int]] = []
    later: list[int] = []
    bus.publish(event(0))
    bus.listen(lambda one: first.append((one.seq, number(one))))
    bus.publish(event(1))
    bus.listen(lambda one: later.append(number(one)))
    await asyncio.to_thread(bus.publish, event(2))
    await bus.aclose()
    assert (first, later) == ([(1, 0), (2, 1), (3, 2)], [2])


async def test_nobody_hears_of_what_was_cleaned_out() -> None:
    kept, heard = Kept(), list[AgentEvent]()
    bus = EventBus(kept.append)
    bus.listen(heard.append)
    bus.clean = lambda one: AgentEvent(one.kind, one.run_id, one.iteration, {"message": "0"})
    bus.publish(event(1234))
    await bus.aclose()
    assert kept.numbers == [number(one) for one in heard] == [0]


async def test_who_gives_up_a_flush_loses_no_event() -> None:
    kept = Kept()
    kept.gate.clear()
    bus = EventBus(kept.append)

    async def publish_and_flush() -> None:
        bus.publish(event(0))
        await bus.flush()

    flushing = asyncio.create_task(publish_and_flush())
    await asyncio.sleep(0)
    flushing.cancel()
    await asyncio.wait({flushing})
    kept.gate.set()
    bus.publish(event(1))
    await bus.aclose()
    assert (kept.numbers, kept.seqs) == ([0, 1], [1, 2])


async def test_a_store_that_fails_in_its_own_way_is_told_to_who_publishes_next() -> None:
    async def append(_: Sequence[AgentEvent]) -> None:
        raise ConnectionError("the database is gone")

    bus = EventBus(append)
    bus.publish(event(0))
    with pytest.raises(RetraiError, match="ConnectionError: the database is gone"):
        await bus.flush()
    with pytest.raises(RetraiError, match="the database is gone"):
        bus.publish(event(1))


async def test_closing_keeps_what_is_left() -> None:
    kept = Kept()
    bus = EventBus(kept.append)
    for i in range(5):
        bus.publish(event(i))
    await bus.aclose()
    assert kept.numbers == list(range(5))


@given(steps=st.lists(st.sampled_from(["publish", "flush", "turn"]), max_size=40))
def test_whatever_the_order_of_publishing_and_flushing_each_event_is_kept_once(
    steps: list[str],
) -> None:
    async def story() -> tuple[int, list[int], list[int]]:
        kept = Kept()
        bus = EventBus(kept.append)
        published = 0
        for step in steps:
            if step == "publish":
                bus.publish(event(published))
                published += 1
            elif step == "flush":
                await bus.flush()
                assert len(kept.events) == published
            else:
                await asyncio.sleep(0)
        await bus.aclose()
        return published, kept.numbers, kept.seqs

    published, numbers, seqs = asyncio.run(story())
    assert numbers == list(range(published))
    assert seqs == list(range(1, published + 1))
