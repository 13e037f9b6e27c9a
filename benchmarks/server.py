"""Load on `retrai serve`: many runs at once, and many WebSockets on one run beside a naive server.

    python benchmarks/server.py [--runs 100] [--clients 50] [--events 1000] [--rounds 5]

**Runs**: so many are submitted at once, each in a project of its own, with the kit's goal
`expected-files` and its model `scripted`, which take no time of their own. Meanwhile
`GET /api/runs` is asked again and again; its 95th percentile is shown, and how many runs worked at
once.

**WebSockets**: so many clients follow one run, and so many events are published at once by another
process. Counted is the time until the last client has the last event. The naive server has a queue
for each client, and makes, compresses and sends each message for each client by itself; the two
take turns. The clients are bare sockets, which only keep what they get until the clock has stopped;
then every event of every client is compared.

Exits 1 where a run or an event is lost, more runs than allowed work at once, or the ratio of events
a second is below its bound.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from counts import positive

from retrai_core import AgentEvent, FilesStore, RunManager, RunRecord
from retrai_testkit import ScriptedModel, call

RATIO = 4.0
_CLOSE = 0x8
_GAP_S = 0.02


class Program:
    """A server in a process of its own, with its address."""

    def __init__(self, *command: str, state: Path) -> None:
        environment = {**os.environ, "RETRAI_STATE_DIR": str(state)}
        self.process = subprocess.Popen(
            [sys.executable, *command], stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout is not None
        address = ""
        while not address.startswith("http"):
            address = self.process.stdout.readline()
            if not address:
                raise SystemExit(f"{command} ended with {self.process.wait()}")
        parts = urlsplit(address.strip())
        self.port = parts.port
        self.token = parse_qs(parts.query).get("token", [""])[0]

    def end(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait()


# Runs


async def submit_runs(base: Path, count: int, parallel: int) -> bool:
    """Submit runs at once and wait for all; whether none was lost."""
    root = base / "root"
    root.mkdir(parents=True)
    command = ("-m", "retrai_core", "serve", "-p", "0", "--root", str(root))
    server = Program(*command, "--max-parallel", str(parallel), state=base / "state")
    script = ScriptedModel().play(call("put_file", path="a.txt", text="right")).settings
    bodies: list[dict[str, Any]] = []
    for number in range(count):
        (root / str(number)).mkdir()
        (root / str(number) / "a.txt").write_text("wrong")
        bodies.append(
            {
                "cwd": str(number),
                "goal": "expected-files",
                "options": {"files": {"a.txt": "right"}},
                "model_name": "scripted",
                "plugins": script["plugins"],
                "python": sys.executable,
                "sandbox": "local",
                "memory": "none",
            }
        )
    latencies: list[float] = []
    most = 0
    headers = {"Authorization": f"Bearer {server.token}"}
    address = f"http://127.0.0.1:{server.port}"
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=120) as client:
        began = time.perf_counter()
        posts = [asyncio.create_task(client.post("/api/runs", json=body)) for body in bodies]
        runs: list[dict[str, Any]] = []
        ended: list[dict[str, Any]] = []
        while len(ended) < count or not all(post.done() for post in posts):
            asked = time.perf_counter()
            runs = (await client.get("/api/runs", params={"limit": 1000})).json()
            latencies.append(time.perf_counter() - asked)
            most = max(most, sum(run["status"] == "running" for run in runs))
            ended = [run for run in runs if run["ended_at"] and run["status"] != "running"]
            await asyncio.sleep(_GAP_S)
        took = time.perf_counter() - began
        answers = [(await post).status_code for post in posts]
    server.end()
    achieved = sum(run["status"] == "achieved" for run in runs)
    p95 = statistics.quantiles(latencies, n=20)[-1]
    print(f"{count} runs at once, at most {parallel} in parallel: {took:.1f} s")
    print(f"  accepted {answers.count(201)}, achieved {achieved}, most at work {most}")
    print(
        f"  GET /api/runs meanwhile, {len(latencies)} times: median "
        f"{statistics.median(latencies) * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms, "
        f"longest {max(latencies) * 1000:.0f} ms"
    )
    return achieved == count and most <= parallel


# WebSockets


class Client:
    """A WebSocket client that only keeps what it gets."""

    def __init__(self) -> None:
        self.data = bytearray()

    async def open(self, server: Program, run_id: str) -> None:
        """Connect, and offer compression as browsers do."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", server.port)
        key = base64.b64encode(os.urandom(16)).decode()
        self._writer.write(
            (
                f"GET /api/ws/{run_id} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                f"Authorization: Bearer {server.token}\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Extensions: permessage-deflate\r\n"
                f"Sec-WebSocket-Key: {key}\r\n\r\n"
            ).encode()
        )
        head = await self._reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in head:
            raise SystemExit(head.decode())
        self._bits = -12 if b"server_max_window_bits=12" in head else -15

    async def read(self) -> None:
        """Keep everything until the server closes."""
        while data := await self._reader.read(1 << 18):
            self.data += data
            if self.data[-4:-3] == b"\x88" or b"\x88\x02\x03\xe8" in self.data[-8:]:
                break
        self._writer.close()

    def numbers(self) -> list[int]:
        """The number of each event."""
        inflater = zlib.decompressobj(self._bits)
        found: list[int] = []
        for first, payload in self._frames():
            if first & 0xF == _CLOSE:
                break
            if first & 0xF == 1:
                text = payload
                if first & 0x40:
                    text = inflater.decompress(payload + b"\x00\x00\xff\xff")
                found.append(json.loads(text)["seq"])
        return found

    def _frames(self) -> Iterator[tuple[int, bytes]]:
        at = 0
        while at + 2 <= len(self.data):
            first, size = self.data[at], self.data[at + 1]
            more = {126: 2, 127: 8}.get(size, 0)
            if more:
                size = int.from_bytes(self.data[at + 2 : at + 2 + more], "big")
            at += 2 + more
            yield first, bytes(self.data[at : at + size])
            at += size


async def fan_out(
    server: Program, store: FilesStore, clients: int, events: int, name: str
) -> float:
    """Events a second from the first published one until the last client has the last."""
    record = RunRecord(
        id=name, model="offline", project=store.state.parent / "root", status="running"
    )
    await store.create(record)
    claim = await store.claim(record.id, "benchmark")
    assert claim is not None
    opened = [Client() for _ in range(clients)]
    for client in opened:
        await client.open(server, record.id)
    reading = [asyncio.create_task(client.read()) for client in opened]
    message = {"tool": "bash_exec", "content": "x" * 300, "error": False, "duration_s": 0.1}
    made = [AgentEvent("tool_result", name, 1, message, seq=n) for n in range(1, events + 1)]
    made.append(AgentEvent("run_end", name, 1, {"status": "achieved"}, seq=events + 1))
    began = time.perf_counter()
    await store.append_events(claim, made)
    ended = record.model_copy(update={"status": "achieved", "ended_at": time.time()})
    await store.save(claim, ended)
    await store.release(claim)
    await asyncio.gather(*reading)
    took = time.perf_counter() - began
    for client in opened:
        if client.numbers() != list(range(1, events + 2)):
            raise SystemExit(f"{name}: a client has {len(client.numbers())} of {events + 1} events")
    return events / took


async def compare(base: Path, clients: int, events: int, rounds: int) -> bool:
    """Both servers in turn; whether ours is as much quicker as it should be."""
    root, state = base / "root", base / "state"
    root.mkdir(parents=True)
    store = FilesStore(state=state)
    command = ("-m", "retrai_core", "serve", "-p", "0", "--root", str(root))
    ours = Program(*command, state=state)
    naive = Program(__file__, "--naive", state=state)
    rates: dict[str, list[float]] = {"retrai serve": [], "naive": []}
    for number in range(rounds + 1):  # the first one warms up
        for name, server in (("retrai serve", ours), ("naive", naive)):
            run_id = f"{name.split()[0]}{number}"
            rates[name].append(await fan_out(server, store, clients, events, run_id))
    ours.end()
    naive.end()
    print(f"{clients} WebSockets, {events:,} events: events a second to each, median (least, most)")
    for name, found in rates.items():
        del found[0]
        print(
            f"  {name:14} {statistics.median(found):8,.0f} ({min(found):,.0f}, {max(found):,.0f})"
        )
    ratio = statistics.median(rates["retrai serve"]) / statistics.median(rates["naive"])
    print(f"  {ratio:.1f} times, at least {RATIO:g}")
    return ratio >= RATIO


def serve_naively() -> None:
    """What one writes first: a queue for each client, each message made for each client."""
    import socket

    import uvicorn
    from starlette.applications import Starlette
    from starlette.routing import WebSocketRoute
    from starlette.websockets import WebSocket

    queues: dict[str, list[asyncio.Queue[AgentEvent]]] = {}
    readers: dict[str, asyncio.Task[None]] = {}
    manager = RunManager(engine="inline")

    async def read(run_id: str) -> None:
        async for event in (await manager.get(run_id)).events():
            for queue in queues[run_id]:
                queue.put_nowait(event)

    async def follow(websocket: WebSocket) -> None:
        run_id = websocket.path_params["id"]
        await websocket.accept()
        queue: asyncio.Queue[AgentEvent] = asyncio.Queue()
        queues.setdefault(run_id, []).append(queue)
        readers.setdefault(run_id, asyncio.create_task(read(run_id)))
        while True:
            event = await queue.get()
            await websocket.send_text(json.dumps(event.to_dict()))
            if event.kind == "run_end":
                break
        await websocket.close()

    app = Starlette(routes=[WebSocketRoute("/api/ws/{id}", follow)])
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    config = uvicorn.Config(app, ws="websockets-sansio", log_level="error", lifespan="off")
    uvicorn.Server(config).run([listening])


def main() -> int:
    """Measure and print; the exit code."""
    parser = argparse.ArgumentParser(description="Load on `retrai serve`.")
    parser.add_argument("--runs", type=positive, default=100)
    parser.add_argument("--parallel", type=positive, default=os.cpu_count() or 1)
    parser.add_argument("--clients", type=positive, default=50)
    parser.add_argument("--events", type=positive, default=1_000)
    parser.add_argument("--rounds", type=positive, default=5)
    parser.add_argument("--naive", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.naive:
        serve_naively()
        return 0
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CONFIG_HOME"] = folder  # without the user's own settings
        base = Path(folder)
        is_good = asyncio.run(compare(base / "sockets", given.clients, given.events, given.rounds))
        is_good = asyncio.run(submit_runs(base / "runs", given.runs, given.parallel)) and is_good
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
