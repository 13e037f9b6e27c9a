"""The run log holds every event, and reads what a kill or an odd text left in it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from retrai_core import AgentEvent, Claim, FilesStore, RunRecord
from retrai_core.storage.event_log import read_events


def event(number: int, size: int = 0) -> AgentEvent:
    payload = {"level": "info", "message": f"number {number}" + "x" * size}
    return AgentEvent("log", "r1", number, payload, ts=1.5, seq=number)


class Place:
    """A run and its log."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.store = FilesStore(state=self.state)
        self.log = self.store.folder("r1") / "events.jsonl"

    async def claim(self) -> Claim:
        claim = await self.store.claim("r1", "a test")
        assert claim is not None
        return claim

    async def read(self, store: FilesStore | None = None, after: int = 0) -> list[AgentEvent]:
        return [*await (store or self.store).read_events("r1", after)]


@pytest.fixture
async def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    await made.store.create(RunRecord(id="r1", model="offline", project=Path("/p")))
    return made


async def test_a_log_of_retrai_0_1_is_read_with_the_names_of_now_and_numbered(
    place: Place,
) -> None:
    old = [
        ("step_start", {"step": "act"}),
        ("tool_call", {"id": "c", "name": "look", "args": {}, "summary": ""}),
        ("tool_result", {"id": "c", "name": "look", "ok": False, "content": "no"}),
        ("llm_usage", {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}),
        ("run_end", {"outcome": "failed", "reason": "no"}),
    ]
    common = {"run_id": "r1", "iteration": 0, "ts": 1.5}
    lines = [json.dumps({"kind": kind, "payload": payload, **common}) for kind, payload in old]
    place.log.write_text("\n".join(lines) + "\n")
    events = await place.read()
    assert [event.seq for event in events] == [1, 2, 3, 4, 5]
    assert [dict(event.payload) for event in events] == [
        {"node": "act"},
        {"id": "c", "tool": "look", "args": {}, "summary": ""},
        {"id": "c", "tool": "look", "error": True, "content": "no"},
        {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
        {"status": "failed", "reason": "no"},
    ]
    assert list(read_events(place.log)) == events
    claim = await place.claim()
    assert await place.store.append_events(claim, [event(6)]) == 6
    assert await place.read(after=4) == [events[4], event(6)]
    assert await place.read(FilesStore(state=place.state)) == [*events, event(6)]


@pytest.mark.parametrize("kept", range(1, 100, 9))
async def test_a_line_that_a_kill_left_half_written_costs_only_itself(
    place: Place, kept: int
) -> None:
    claim = await place.claim()
    await place.store.append_events(claim, [event(1)])
    whole = len(place.log.read_bytes())
    await place.store.append_events(claim, [event(2)])
    await place.store.release(claim)
    place.log.write_bytes(place.log.read_bytes()[: whole + kept])
    reader = FilesStore(state=place.state)
    assert await place.read(reader) == [event(1)]
    claim = await place.claim()
    assert await place.store.append_events(claim, []) == 1
    assert await place.store.append_events(claim, [event(2)]) == 2
    assert await place.read(reader) == [event(1), event(2)]
    assert await place.read(reader, 1) == [event(2)]
    assert list(read_events(place.log)) == [event(1), event(2)]


async def test_a_line_that_a_kill_left_without_its_end_counts(place: Place) -> None:
    place.log.write_text(event(1).to_json())
    assert await place.read() == [], "it may still be being written"
    claim = await place.claim()
    assert await place.store.append_events(claim, [event(2)]) == 2
    assert await place.read() == [event(1), event(2)]


async def test_bytes_that_are_no_text_and_lines_that_are_no_events_are_passed_over(
    place: Place,
) -> None:
    odd = b'\xff\xfe\xe9\n\n[]\n{"kind": "log"}\n{"kind": "dance", "run_id": "r1"}\nnull\n'
    place.log.write_bytes(odd + event(1).to_json().encode() + b"\n" + odd)
    assert await place.read() == [event(1)]
    assert await place.read(after=1) == []
    assert list(read_events(place.log)) == [event(1)]


async def test_a_follower_reads_only_what_is_new(place: Place) -> None:
    claim = await place.claim()
    follower = FilesStore(state=place.state)
    for number in range(1, 1001):
        await place.store.append_events(claim, [event(number)])
        assert await place.read(follower, number - 1) == [event(number)]
    half = place.log.stat().st_size // 2
    with place.log.open("r+b") as file:
        file.write(b"\n" * half)  # whoever reads it again misses these
    await place.store.append_events(claim, [event(1001)])
    assert await place.read(follower, 900) == [event(number) for number in range(901, 1002)]
    assert (await place.read(follower, 0))[-1] == event(1001)


async def test_a_long_log_is_read_in_parts(place: Place) -> None:
    claim = await place.claim()
    events = [event(number, size=50_000) for number in range(1, 101)]
    await place.store.append_events(claim, events)
    reader = FilesStore(state=place.state)
    parts: list[list[AgentEvent]] = []
    while part := await place.read(reader, parts[-1][-1].seq if parts else 0):
        parts.append(part)
    assert len(parts) > 3
    assert [each for part in parts for each in part] == events
    assert await place.read(reader, 99) == events[99:]


FULL = """
import asyncio, resource, sys
from pathlib import Path
from retrai_core import AgentEvent, FilesStore, RetraiError

async def fill():
    store = FilesStore(state=Path(sys.argv[1]))
    claim = await store.claim("r1", "a test")
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
    for number in range(1, 4):
        size = 300 if number < 3 else 1
        payload = {"message": "x" * size}
        try:
            await store.append_events(claim, [AgentEvent("log", "r1", 0, payload, seq=number)])
        except RetraiError as error:
            print(error)

asyncio.run(fill())
"""


async def test_a_log_that_cannot_be_written_is_one_clear_line(place: Place) -> None:
    done = subprocess.run(  # noqa: ASYNC221 - the other process has a limit of its own
        [sys.executable, "-c", FULL, str(place.state)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == ""
    said = done.stdout.splitlines()
    assert len(said) == 2, "from then on none is written"
    assert said[0].startswith("the run's log cannot be written: File too large")
    assert "`retrai runs resume r1` goes on" in said[1]
    assert [each.seq for each in await place.read()] == [1]
    assert place.log.read_bytes().endswith(b"}\n"), "what did not fit is gone"
