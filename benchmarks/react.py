"""Added latency of the ReAct step service, beside a bare proxy of the same stack.

    python benchmarks/react.py [--clients 200] [--delay 2] [--rounds 4] [--turns 2]

A model server on loopback answers each request after `--delay` seconds. `--clients` connections
each send one step after another, the first ones spread over the delay, so that as many are in
flight all the time. The bare proxy is FastAPI on uvicorn, which hands the very messages that a step
sends to the same model provider (retrai-llm-litellm with the caller's key) and gives back the text:
no prompt is built, nothing is parsed, there are no limits and no security. The two take turns;
each has a process of its own, and so has the model server.

Shown are the milliseconds that an answer takes beyond the delay, and of each process (the server,
its spare child for runs, LiteLLM) the CPU a request and the peak memory. Where another load keeps
the cores busy the queues grow in both; the CPU a request does not depend on it.

Exits 1 where an answer is wrong, or the step's median is more than 20 ms above the proxy's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psutil
from counts import positive

BOUND_MS = 20.0
MODEL = "openai/gpt-4o"
THOUGHT = 'Thought: read it\nAction: read_file(path="shop.py", lines=[1, 2])'
TOOLS = "read_file(path, lines): the text of a file\ngrep(pattern, path='.'): lines that match"
_END = b"\r\n\r\n"


# The model server


async def serve_model(delay_s: float) -> None:
    """Answer each request after a while."""
    message = {"role": "assistant", "content": THOUGHT}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    kind = "chat.completion"
    whole = {"id": "c", "object": kind, "model": "m", "choices": [choice], "usage": usage}
    body = json.dumps(whole).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    answer = head.encode() + _END + body

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await _read_message(reader)
                await asyncio.sleep(delay_s)
                writer.write(answer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


async def _read_message(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(_END)
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return await reader.readexactly(int(line.partition(b":")[2]))
    return b""


# The bare proxy


async def serve_proxy() -> None:
    """Hand requests to the model, and nothing else."""
    import uvicorn
    from fastapi import FastAPI
    from langchain_core.messages import HumanMessage, SystemMessage

    from retrai_core import RunManager
    from retrai_server.serving import listen

    app = FastAPI()
    async with RunManager() as manager, manager.keyed_models() as models:

        async def proxy(body: dict[str, str]) -> dict[str, str]:
            model = await models.make(MODEL, body["key"], 0.0)
            messages = [SystemMessage(body["system"]), HumanMessage(body["user"])]
            answer = await model.ainvoke(messages, max_tokens=1_000)
            return {"text": answer.text}

        app.post("/proxy")(proxy)
        listening = listen("127.0.0.1", 0, 0)
        print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        config = uvicorn.Config(app, http="h11", log_level="error", access_log=False)
        await uvicorn.Server(config).serve([listening])


# The load


class Target:
    """What is asked, in a process of its own."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
        )
        assert self.process.stdout is not None
        address = ""
        while not address.startswith("http"):
            address = self.process.stdout.readline()
            if not address:
                raise SystemExit(f"{command} ended with {self.process.wait()}")
        self.url = address.strip()
        parts = urlsplit(self.url)
        self.port = parts.port
        self.token = parse_qs(parts.query).get("token", [""])[0]

    def peak_mb(self) -> str:
        """The peak memory of the process and of those that it has started."""
        root = psutil.Process(self.process.pid)
        peaks: list[str] = []
        for each in [root, *root.children(recursive=True)]:
            status = Path("/proc", str(each.pid), "status")
            if status.exists():
                lines = status.read_text().splitlines()
                peak = next((line.split()[1] for line in lines if line.startswith("VmHWM")), "0")
                peaks.append(f"{int(peak) // 1024} MB")
        return " + ".join(peaks) or "unknown"

    def cpu_s(self) -> list[float]:
        """The CPU seconds of the same processes."""
        root = psutil.Process(self.process.pid)
        times = [each.cpu_times() for each in (root, *root.children(recursive=True))]
        return [each.user + each.system for each in times]

    def request(self, path: str, body: dict[str, Any]) -> bytes:
        """The bytes of a POST."""
        data = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
            f"Authorization: Bearer {self.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(data)}"
        )
        return head.encode() + _END + data


async def load(
    target: Target, requests: list[bytes], rounds: int, delay_s: float
) -> tuple[list[float], list[bytes]]:
    """The seconds that each answer takes beyond the delay, and the answers."""
    took: list[float] = []
    answers: list[bytes] = []

    async def client(number: int, request: bytes) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", target.port, limit=2**22)
        await asyncio.sleep(delay_s * number / len(requests))
        for _ in range(rounds):
            began = time.perf_counter()
            writer.write(request)
            answers.append(await _read_message(reader))
            took.append(time.perf_counter() - began - delay_s)
        writer.close()

    await asyncio.gather(*(client(n, request) for n, request in enumerate(requests)))
    return took, answers


def step_body(project: str, number: int) -> dict[str, Any]:
    """A step in the middle of a conversation."""
    look = {"name": "read_file", "parameters": {"path": "shop.py"}}
    history = [
        {"role": "user", "content": "Where is the price computed, and in which unit?"},
        {"role": "assistant", "content": "Look at it.", "toolCall": look},
        {"role": "tool_observation", "content": "def price(cents):\n    return cents\n" * 20},
    ]
    return {
        "project_id": project,
        "session_id": "0b7a5f0e-3a1c-4d39-8f0c-6a8a4a1f2d10",
        "user_query": "And where is it shown?",
        "conversation_history": history,
        "explicit_context_paths": ["shop.py"],
        "available_tools_prompt_segment": TOOLS,
        "llm_config": {
            "modelName": MODEL,
            "tokenLimit": 16_000,
            "reservedOutputTokens": 1_000,
            "temperature": 0,
        },
        "user_api_keys": {"llmKey": f"sk-of-caller-{number:08}"},
        "max_iterations_left": 5,
    }


def proxy_body(number: int) -> dict[str, Any]:
    """What the step sends, as far as its size goes."""
    from retrai_react import prompts

    text = "def price(cents):\n    return cents\n" * 60
    key = f"sk-of-caller-{number:08}"
    return {"system": prompts.SYSTEM.format(tools=TOOLS), "user": text, "key": key}


@contextmanager
def started(command: list[str], **environment: str) -> Iterator[Target]:
    """A target that ends with the block."""
    target = Target(command, environment)
    try:
        yield target
    finally:
        target.process.terminate()
        target.process.wait()


def described(name: str, took: list[float]) -> str:
    """One line of the table."""
    ms = [1000 * each for each in took]
    p95 = statistics.quantiles(ms, n=20)[-1]
    return f"  {name:14} median {statistics.median(ms):7.1f} ms   p95 {p95:7.1f} ms   n {len(ms)}"


async def measure(base: Path, clients: int, delay_s: float, rounds: int, turns: int) -> bool:
    """Run and print; whether all is well."""
    root = base / "root" / "shop"
    root.mkdir(parents=True)
    (root / "shop.py").write_text("def price(cents):\n    return cents\n" * 40)
    config = base / "config" / "retrai"
    config.mkdir(parents=True)
    options = {"steps_per_minute": 1_000_000, "max_in_flight": 2 * clients}
    (config / "config.yml").write_text(json.dumps({"plugins": {"react": options}}))
    here = [sys.executable, __file__]
    serve = [sys.executable, "-m", "retrai_core", "serve", "-p", "0", "--root", str(root.parent)]
    with started([*here, "--serve-model", "--delay", str(delay_s)]) as model:
        environment = {
            "OPENAI_API_BASE": model.url,
            "RETRAI_STATE_DIR": str(base / "state"),
            "XDG_CONFIG_HOME": str(base / "config"),
        }
        with (
            started([*here, "--serve-proxy"], **environment) as proxy,
            started(serve, **environment) as server,
        ):
            registered = server.request("/api/projects", {"path": str(root)})
            _, found = await load(server, [registered], 1, 0.0)
            project = json.loads(found[0])["id"]
            steps = [
                server.request("/api/agent/react_step", step_body(project, number))
                for number in range(clients)
            ]
            plain = [proxy.request("/proxy", proxy_body(number)) for number in range(clients)]
            for target, requests in ((proxy, plain), (server, steps)):  # LiteLLM is imported
                await load(target, requests[:4], 2, 0.0)
            times: dict[str, list[float]] = {"bare proxy": [], "react_step": []}
            wrong = 0
            before = {"bare proxy": proxy.cpu_s(), "react_step": server.cpu_s()}
            for _ in range(turns):
                taken, found = await load(proxy, plain, rounds, delay_s)
                times["bare proxy"] += taken
                wrong += sum(json.loads(answer).get("text") != THOUGHT for answer in found)
                taken, found = await load(server, steps, rounds, delay_s)
                times["react_step"] += taken
                for answer in found:
                    wrong += json.loads(answer).get("status") != "action_proposed"
            after = {"bare proxy": proxy.cpu_s(), "react_step": server.cpu_s()}
            peaks = {"bare proxy": proxy.peak_mb(), "react_step": server.peak_mb()}
    print(f"{clients} requests in flight, a model that takes {delay_s:g} s")
    for name, taken in times.items():
        spent = (
            1000 * (end - begin) / len(taken)
            for begin, end in zip(before[name], after[name], strict=True)
        )
        cpu = " + ".join(f"{ms:.1f}" for ms in spent)
        print(f"{described(name, taken)}   CPU {cpu} ms a request   peak {peaks[name]}")
    added = 1000 * (statistics.median(times["react_step"]) - statistics.median(times["bare proxy"]))
    print(f"  added by the service: {added:.1f} ms at the median (bound {BOUND_MS:g} ms)")
    print(f"  wrong answers: {wrong}")
    return wrong == 0 and added <= BOUND_MS


def main() -> None:
    """Measure, or serve for the measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=positive, default=200)
    parser.add_argument("--delay", type=float, default=2.0)
    parser.add_argument("--rounds", type=positive, default=4)
    parser.add_argument("--turns", type=positive, default=2)
    parser.add_argument("--serve-model", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--serve-proxy", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve_model:
        asyncio.run(serve_model(given.delay))
    elif given.serve_proxy:
        asyncio.run(serve_proxy())
    else:
        with tempfile.TemporaryDirectory() as folder:
            work = measure(Path(folder), given.clients, given.delay, given.rounds, given.turns)
            sys.exit(not asyncio.run(work))


if __name__ == "__main__":
    main()
