"""A server that speaks OpenAI's protocol and answers each node of the agent from a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Call = tuple[str, Mapping[str, Any]]
Answer = str | list[Call] | int
"""A text, tool calls, or the status of an error."""
Script = Mapping[str, list[Answer]]
"""The answers of each node, in order; the last one is repeated."""

BEGINNINGS = {
    "You plan research": "planner",
    "You research a code base": "executor",
    "Decide whether": "refinery",
    "Answer the question": "synthesizer",
}
USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


@dataclass
class Wire:
    """The server, and what it was asked.

    Attributes:
        url: its address, with `/v1`.
        script: may be changed while it runs.
        asked: the node of each request, in order.
        bodies: the requests.
        before: called with the node before each answer.
    """

    url: str = ""
    script: Script = field(default_factory=dict[str, list[Answer]])
    asked: list[str] = field(default_factory=list[str])
    bodies: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    before: Callable[[str], object] = lambda node: None

    def answer(self, body: dict[str, Any]) -> tuple[int, bytes]:
        first = str(body["messages"][0]["content"])
        node = next(name for words, name in BEGINNINGS.items() if first.startswith(words))
        self.before(node)
        answers = self.script[node]
        given = answers[min(self.asked.count(node), len(answers) - 1)]
        self.asked.append(node)
        self.bodies.append(body)
        if isinstance(given, int):
            return given, json.dumps({"error": {"message": "out of order"}}).encode()
        message: dict[str, Any] = {"role": "assistant", "content": given}
        if isinstance(given, list):
            message = {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": f"call_{len(self.asked)}_{number}",
                        "type": "function",
                        "function": {"name": name, "arguments": json.dumps(arguments)},
                    }
                    for number, (name, arguments) in enumerate(given)
                ],
            }
        reason = "tool_calls" if "tool_calls" in message else "stop"
        return 200, json.dumps(
            {
                "id": f"chatcmpl-{len(self.asked)}",
                "object": "chat.completion",
                "created": 1_700_000_000,
                "model": "scripted",
                "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                "usage": USAGE,
            }
        ).encode()

    def prompts(self, node: str) -> list[str]:
        """The first message of each request of a node."""
        pairs = zip(self.asked, self.bodies, strict=True)
        return [str(body["messages"][0]["content"]) for name, body in pairs if name == node]


class Serving:
    """A context manager that serves a wire on a loopback port."""

    def __init__(self, wire: Wire) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, answer = wire.answer(json.loads(body))
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        wire.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> None:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
