"""A tiny OpenAI server for benchmarks: N tool calls one after another, then a closing word.

It answers at once and notes when each request came and when its answer was sent, so that the time
between them is the client's own. `python benchmarks/fake_openai.py --help` runs it by hand.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from counts import positive

MODEL = "gpt-4o-mini"
USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


@dataclass
class Exchange:
    """One request: wall-clock seconds since the epoch."""

    received_at: float
    answered_at: float


@dataclass
class FakeOpenAI:
    """Asks for `tool` with `arguments` `calls` times, then answers `closing` for good.

    Attributes:
        calls: how many tool calls are asked for.
        tool: the tool's name.
        arguments: the tool's arguments, by the number of the call: a run in which the same call
            gives the same result again and again counts as stuck.
        closing: the last answers' text.
        closing_tool: the name and arguments of a tool to close with instead.
        exchanges: one entry a chat request, in the order they came.
        last_request: the last parsed body.
    """

    calls: int
    tool: str
    arguments: Callable[[int], Mapping[str, Any]]
    closing: str = "Done."
    closing_tool: tuple[str, Mapping[str, Any]] | None = None
    exchanges: list[Exchange] = field(default_factory=list[Exchange])
    last_request: dict[str, Any] = field(default_factory=dict[str, Any])
    port: int = 0
    _server: asyncio.Server | None = None

    async def start(self) -> str:
        """Listen on a free loopback port; the base URL, with `/v1`."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{self.port}/v1"

    async def stop(self) -> None:
        """Close the port; connections that a client keeps open are dropped."""
        if self._server is not None:
            self._server.close()

    def gaps_ms(self) -> list[float]:
        """Milliseconds between sending an answer and the arrival of the next request."""
        pairs = zip(self.exchanges, self.exchanges[1:], strict=False)
        return [(after.received_at - before.answered_at) * 1000 for before, after in pairs]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while body := await read_request(reader):
                received_at = time.time()
                self.last_request = json.loads(body)
                writer.write(self._answer(self.last_request))
                await writer.drain()
                self.exchanges.append(Exchange(received_at, time.time()))
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # The client went away between two requests, or the benchmark is over.
        finally:
            writer.close()

    def _answer(self, request: Mapping[str, Any]) -> bytes:
        number = len(self.exchanges)
        message: dict[str, Any]
        if number < self.calls:
            message = tool_call(number, self.tool, self.arguments(number))
        elif self.closing_tool is not None:
            message = tool_call(number, *self.closing_tool)
        else:
            message = {"role": "assistant", "content": self.closing}
        if request.get("stream"):
            return as_stream(number, message)
        return as_json(number, message)


def tool_call(number: int, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """An assistant's message that asks for one tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def as_json(number: int, message: Mapping[str, Any]) -> bytes:
    """A whole answer that keeps the connection."""
    reason = "tool_calls" if "tool_calls" in message else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    body = json.dumps(
        {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": MODEL,
            "choices": [choice],
            "usage": USAGE,
        }
    ).encode()
    return http_head("application/json", len(body)) + body


def as_stream(number: int, message: Mapping[str, Any]) -> bytes:
    """The same answer as server-sent events: the message, its end, the usage."""
    reason = "tool_calls" if "tool_calls" in message else "stop"
    delta = dict(message)
    if "tool_calls" in delta:
        delta["tool_calls"] = [{"index": 0, **call} for call in delta["tool_calls"]]
    parts: list[list[dict[str, Any]]] = [
        [{"index": 0, "delta": delta, "finish_reason": None}],
        [{"index": 0, "delta": {}, "finish_reason": reason}],
        [],
    ]
    frames: list[bytes] = []
    for choices in parts:
        frame: dict[str, Any] = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000,
            "model": MODEL,
            "choices": choices,
        }
        if not choices:
            frame["usage"] = USAGE
        frames.append(b"data: " + json.dumps(frame).encode() + b"\n\n")
    body = b"".join(frames) + b"data: [DONE]\n\n"
    return http_head("text/event-stream", len(body)) + body


def http_head(content_type: str, length: int) -> bytes:
    """Status line and headers of a 200 that keeps the connection."""
    return (
        f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """One request's body; empty at the end of the connection."""
    head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    length = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return await reader.readexactly(length) if length else b""


async def serve_until_interrupted(server: FakeOpenAI) -> None:
    """Say where it listens, and stay."""
    print(await server.start(), flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Run the server by hand."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=positive, default=25)
    parser.add_argument("--tool", default="noop")
    parser.add_argument("--arguments", default="{}", help="a JSON object")
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args()
    arguments = json.loads(given.arguments)
    server = FakeOpenAI(given.calls, given.tool, lambda _: arguments, port=given.port)
    asyncio.run(serve_until_interrupted(server))


if __name__ == "__main__":
    main()
