"""Many clients, a client that does not read, many runs."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from websockets.asyncio.client import connect

from retrai_core import AgentEvent, FilesStore, RunRecord

from .served import Served, put, serving

EVENTS = 1_000
CLIENTS = 50


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path / "root", tmp_path / "state", "--max-parallel", "2") as served:
        yield served


async def made_run(served: Served, count: int, size: int = 100) -> str:
    """A run whose log has so many events, as a holder writes it."""
    store = FilesStore(state=served.state)
    record = RunRecord(id="longrun", model="offline", project=served.root, status="running")
    await store.create(record)
    claim = await store.claim(record.id, "test")
    assert claim is not None
    for first in range(1, count + 1, 100):
        numbers = range(first, min(first + 100, count + 1))
        await store.append_events(
            claim,
            [AgentEvent("log", record.id, 0, {"message": "x" * size}, seq=seq) for seq in numbers],
        )
    end = AgentEvent("run_end", record.id, 0, {"status": "achieved"}, seq=count + 1)
    await store.append_events(claim, [end])
    await store.save(claim, record.model_copy(update={"status": "achieved", "ended_at": 1.0}))
    await store.release(claim)
    await store.aclose()
    return record.id


async def read_all(served: Served, run_id: str) -> list[int]:
    headers = {"Authorization": f"Bearer {served.token}"}
    there = f"ws://127.0.0.1:{served.port}/api/ws/{run_id}"
    async with connect(there, additional_headers=headers, compression=None, proxy=None) as sock:
        assert "permessage-deflate" not in str(sock.response and sock.response.headers)
        return [json.loads(message)["seq"] async for message in sock]


async def test_every_client_gets_every_event_in_order(server: Served) -> None:
    run_id = await made_run(server, EVENTS)
    got = await asyncio.gather(*(read_all(server, run_id) for _ in range(CLIENTS)))
    assert all(numbers == list(range(1, EVENTS + 2)) for numbers in got)


async def test_a_client_that_does_not_read_costs_little_and_slows_nobody(server: Served) -> None:
    """Fifty megabytes of events wait for each of twenty clients that read nothing."""
    run_id = await made_run(server, 5_000, 10_000)
    assert await read_all(server, run_id)
    process = psutil.Process(server.process.pid)
    before = process.memory_info().rss
    lazy = [open_and_wait(server, run_id) for _ in range(20)]
    numbers = await read_all(server, run_id)
    grown = process.memory_info().rss - before
    for connection in lazy:
        connection.close()
    assert numbers == list(range(1, 5_002))
    assert grown < 100_000_000


def open_and_wait(served: Served, run_id: str) -> socket.socket:
    """A WebSocket whose client never reads."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", served.port))
    connection.sendall(
        (
            f"GET /api/ws/{run_id} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            f"Authorization: Bearer {served.token}\r\n\r\n"
        ).encode()
    )
    assert connection.recv(12) == b"HTTP/1.1 101"
    return connection


def test_what_has_left_the_memory_is_read_from_the_store(server: Served) -> None:
    """The first client begins late in the log, the second at its beginning."""
    run_id = asyncio.run(made_run(server, 300))
    with server.socket(f"/api/ws/{run_id}?after=200") as late:
        first = json.loads(late.recv())["seq"]
        early = [event["seq"] for event in server.events(run_id)]
    assert first == 201
    assert early == list(range(1, 302))


def test_runs_submitted_at_once_all_end(server: Served) -> None:
    ids = [server.start(server.project(f"p{n}"), put("right")) for n in range(6)]
    most = 0
    while True:
        runs = server.http.get("/api/runs", params={"limit": 100}).json()
        assert {run["run_id"] for run in runs} == set(ids)
        most = max(most, sum(run["status"] == "running" for run in runs))
        if all(run["status"] == "achieved" for run in runs):
            break
        assert not {run["status"] for run in runs} & {"error", "interrupted", "failed"}
    assert most <= 2
