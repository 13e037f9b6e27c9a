"""Two real servers: aimock, which speaks every provider's format, and a small one that breaks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from retrai_core import AgentEvent, RunContext
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_llm_litellm.lazy_litellm import TRANSPORT_SWITCH, load_litellm
from retrai_llm_litellm.making import make_model
from retrai_llm_litellm.provider import LiteLLMOptions, LiteLLMProvider

HERE = Path(__file__).parent
KEY = "sk-loopback-0123456789abcdef"
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


@dataclass
class Aimock:
    """A running aimock."""

    url: str

    def requests(self, words: str) -> list[dict[str, Any]]:
        """The bodies of the requests whose conversation has `words`, oldest first."""
        headers = {"Authorization": f"Bearer {KEY}"}
        request = urllib.request.Request(f"{self.url}/__aimock/journal", headers=headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            journal = json.load(answer)
        return [entry["body"] for entry in journal if words in json.dumps(entry["body"])]


@pytest.fixture(scope="session")
def aimock() -> Iterator[Aimock]:
    """aimock with the answers of `answers.json`; it refuses every key but `KEY`."""
    folder = Path(os.environ.get("TESTS_AIMOCK_DIR") or HERE.parents[1] / ".tox" / "aimock")
    modules = folder / "node_modules"
    nodes = sorted(modules.glob("node-*/bin/node"))
    command = modules / "@copilotkit" / "aimock" / "dist" / "cli.js"
    if not nodes or not command.is_file():
        pytest.skip("aimock is not installed: bash tests/llm_litellm/install_aimock.sh")
    process = subprocess.Popen(
        [nodes[0], command, "--port", "0", "--fixtures", HERE / "answers.json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "AIMOCK_API_KEYS": KEY},
    )
    assert process.stdout is not None
    said: list[str] = []
    try:
        for line in process.stdout:
            said.append(line)
            if "listening on " in line:
                yield Aimock(line.split("listening on ")[1].strip())
                return
        pytest.fail("aimock did not start: " + "".join(said))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@dataclass
class Answer:
    """What the small server does with one request.

    Attributes:
        body: sent as JSON, bytes as they are; None hangs up without an answer.
        frames: sent as server-sent events instead of a body.
        finished: the events end as they should; otherwise the connection is cut after them.
    """

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    frames: list[Any] = field(default_factory=list)
    finished: bool = True


@dataclass
class WireServer:
    """Answers OpenAI chat requests from `answers`, one after another, the last one for good."""

    answers: list[Answer] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def next_answer(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def wire() -> Iterator[WireServer]:
    """A server that does to a request whatever a test tells it to."""
    known = WireServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:
            """Says nothing."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            known.headers.append({name.lower(): value for name, value in self.headers.items()})
            known.bodies.append(json.loads(body))
            answer = known.next_answer()
            self.close_connection = answer.body is None and not answer.finished
            if answer.frames:
                self.events(answer)
            elif answer.body is not None:
                self.whole(answer)
            if self.close_connection:
                self.connection.close()

        def whole(self, answer: Answer) -> None:
            body = answer.body
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def events(self, answer: Answer) -> None:
            self.send_response(answer.status)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            frames = [json.dumps(frame) for frame in answer.frames]
            for frame in [*frames, "[DONE]"] if answer.finished else frames:
                data = f"data: {frame}\n\n".encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()
            if answer.finished:
                self.wfile.write(b"0\r\n\r\n")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    known.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield known
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def answer() -> type[Answer]:
    """Makes answers of the small server."""
    return Answer


@pytest.fixture
def part_of() -> Callable[..., dict[str, Any]]:
    """Makes one event of an OpenAI stream from the delta of its message."""

    def make(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        kind = "chat.completion.chunk"
        return {"id": "c", "object": kind, "created": 1, "model": "m", "choices": [choice]}

    return make


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys and addresses of whoever runs the tests play no part, nor does an earlier test."""
    monkeypatch.setenv(TRANSPORT_SWITCH, "")
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_AUTH_TOKEN", "_API_BASE", "_BASE_URL")):
            monkeypatch.delenv(name)
    monkeypatch.delenv(TRANSPORT_SWITCH)
    monkeypatch.setenv("LOOPBACK_KEY", KEY)


@pytest.fixture(params=["own transport", "client library"])
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways in which LiteLLM sends requests in OpenAI's format."""
    if request.param == "client library":
        monkeypatch.setenv(TRANSPORT_SWITCH, "False")
    return request.param


@pytest.fixture
def events() -> list[AgentEvent]:
    """What the context's parts published."""
    return []


@pytest.fixture
def context(tmp_path: Path, events: list[AgentEvent]) -> RunContext:
    return RunContext(
        "run-1",
        tmp_path,
        SafeWorkspace(tmp_path),
        sys.executable,
        tmp_path / "run",
        model_name="openai/gpt-4o",
        on_event=events.append,
    )


@pytest.fixture
def provider_of(context: RunContext) -> Callable[..., LiteLLMProvider]:
    """Build the provider with options, as the wiring does."""

    def build(**options: Any) -> LiteLLMProvider:
        return LiteLLMProvider(LiteLLMOptions(**options), context)

    return build


@pytest.fixture(scope="session")
def litellm_is_there() -> None:
    """LiteLLM's import, before any test listens to what is logged."""
    load_litellm()


@pytest.fixture
def model_of(
    provider_of: Callable[..., LiteLLMProvider], context: RunContext, litellm_is_there: None
) -> Callable[..., Any]:
    """A model with one tool bound to it, as the process that runs LiteLLM makes it, but in ours."""

    def report(message: str) -> None:
        context.publish("log", level="warning", message=message)

    def make(name: str, **options: Any) -> Any:
        spec = provider_of(**{"api_key_env": "LOOPBACK_KEY", **options}).spec(name, 0.0)
        return make_model(spec, report).bind_tools([TOOL])

    return make


@pytest.fixture
def speaks(aimock: Aimock, model_of: Callable[..., Any]) -> Callable[..., Any]:
    """Make a model that speaks to aimock, which counts this test's requests from nought."""

    def make(name: str, **options: Any) -> Any:
        base = f"{aimock.url}/v1" if name.startswith("openai/") else aimock.url
        return model_of(name, api_base=base, extra_headers={"X-Test-Id": uuid4().hex}, **options)

    return make


@pytest.fixture
def key() -> str:
    """The one key that aimock takes."""
    return KEY
