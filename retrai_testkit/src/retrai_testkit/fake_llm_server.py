"""A real HTTP server on the loopback that speaks OpenAI's chat completions, with a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .chat_wire import completion, error_body, stream_of
from .turns import Turn

_USED_UP = Turn(text="The script is used up: nothing more to do.")


class FakeLLMServer:
    """Answers chat requests with given turns, whole or as a stream, and keeps the requests.

    It speaks `POST .../chat/completions` and `GET .../models` of OpenAI's API. Each request takes
    the next turn; a turn with `error` is answered with its `status` and `headers`.

    Attributes:
        turns: the answers in order; after the last it says that the script is used up.
        requests: the parsed body of each chat request, in the order of their arrival.
        keys: the bearer token of each chat request.

    Example:
        >>> import json, urllib.request
        >>> from retrai_testkit import say
        >>> with FakeLLMServer() as server:
        ...     _ = server.play(say("hello"))
        ...     body = json.dumps({"model": "m", "messages": []}).encode()
        ...     url = f"{server.base_url}/chat/completions"
        ...     with urllib.request.urlopen(urllib.request.Request(url, body)) as answer:
        ...         json.load(answer)["choices"][0]["message"]["content"]
        'hello'
    """

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    @property
    def base_url(self) -> str:
        """The API's address, as clients take it (`http://127.0.0.1:PORT/v1`)."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def play(self, *turns: Turn) -> FakeLLMServer:
        """Add turns; returns itself."""
        self.turns += turns
        return self

    def __enter__(self) -> FakeLLMServer:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    def take_turn(self, request: dict[str, Any], key: str) -> tuple[int, Turn]:
        """Note a request; its number, counted from 0, and the turn that answers it."""
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
            self.keys.append(key)
        return number, self.turns[number] if number < len(self.turns) else _USED_UP


def _handler_of(server: FakeLLMServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # A client that keeps its connection open must not keep a thread of ours for good.
        timeout = 30

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if not self.path.split("?")[0].endswith("/chat/completions"):
                self._answer(404, error_body(f"no such endpoint: {self.path}"))
                return
            try:
                request: Any = json.loads(body)
                model = str(request["model"])
            except (ValueError, KeyError, TypeError) as error:
                self._answer(400, error_body(f"not a chat request: {error!r}"))
                return
            key = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
            number, turn = server.take_turn(request, key)
            if turn.error:
                self._answer(turn.status, error_body(turn.error), turn.headers)
            elif request.get("stream"):
                self._send(200, stream_of(number, model, turn), "text/event-stream")
            else:
                self._answer(200, completion(number, model, turn))

        def do_GET(self) -> None:
            if self.path.split("?")[0].endswith("/models"):
                self._answer(200, {"object": "list", "data": []})
            else:
                self._answer(404, error_body(f"no such endpoint: {self.path}"))

        def _answer(
            self, status: int, body: Mapping[str, Any], more: Mapping[str, str] | None = None
        ) -> None:
            self._send(status, json.dumps(body).encode(), "application/json", more)

        def _send(
            self, status: int, data: bytes, kind: str, more: Mapping[str, str] | None = None
        ) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": kind, **(more or {})}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base names it so
            """Nothing on standard error: the requests are kept."""

    return Handler
