"""A model server over HTTP, as OpenAI's API, and a `retrai serve` that asks it."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ..server.served import Served, serving

KEY = "sk-of-the-caller-0123456789"
TOOLS = "read_file(path): the text of a file\ngrep(pattern, path='.'): lines that match"


@dataclass(frozen=True)
class Sent:
    """An answer of the model server: text or a message, or bytes as they are.

    Attributes:
        content: the model's text, or a whole message.
        status: the HTTP status.
        raw: the body instead.
        kind: the body's type.
        hang_up_after: so many bytes of the body are sent, then the connection is closed.
    """

    content: str | Mapping[str, Any] = ""
    status: int = 200
    raw: bytes | None = None
    kind: str = "application/json"
    hang_up_after: int | None = None

    def body(self) -> bytes:
        """The bytes."""
        if self.raw is not None:
            return self.raw
        message = (
            {"role": "assistant", "content": self.content}
            if isinstance(self.content, str)
            else {"role": "assistant", **self.content}
        )
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        kind = "chat.completion"
        whole = {"id": "c", "object": kind, "model": "m", "choices": [choice], "usage": usage}
        return json.dumps(whole).encode()


@dataclass(frozen=True)
class Request:
    """What the model server was sent."""

    key: str
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation."""
        return self.body["messages"]

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(f"{each['role']}: {each['content']}" for each in self.messages)


Answer = Callable[[Request], "Sent | str"]


@dataclass
class ModelServer:
    """Answers each request by `answer`, or from `answers`, the last one for good.

    Attributes:
        requests: what it was sent.
        dropped: set when a client has closed its connection before its answer.
    """

    answers: list[Sent | str] = field(default_factory=list)
    answer: Answer | None = None
    requests: list[Request] = field(default_factory=list)
    dropped: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def plays(self, *answers: Sent | str) -> None:
        """Set the answers of a test."""
        self.answers, self.answer = list(answers), None
        self.requests.clear()
        self.dropped.clear()

    def decides(self, answer: Answer) -> None:
        """Set what makes the answers of a test."""
        self.plays()
        self.answer = answer

    def next_answer(self, request: Request) -> Sent:
        """The answer to a request."""
        self.requests.append(request)
        if self.answer is not None:
            said = self.answer(request)
        else:
            said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return Sent(said) if isinstance(said, str) else said


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """A model server on loopback."""
    known = ModelServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:
            """Says nothing."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            key = self.headers.get("Authorization", "").removeprefix("Bearer ")
            answer = known.next_answer(Request(key, json.loads(body)))
            data = answer.body()
            try:
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[: answer.hang_up_after])
            except OSError:
                known.dropped.set()
            if answer.hang_up_after is not None:
                self.close_connection = True

    class Server(ThreadingHTTPServer):
        request_queue_size = 512
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    known.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield known
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Service:
    """A served project and what asks it for steps.

    Attributes:
        served: the server.
        model: what it asks.
        folder: the project's.
        project: its UUID.
    """

    def __init__(self, served: Served, model: ModelServer, folder: Path) -> None:
        self.served = served
        self.model = model
        self.folder = folder
        self.http = served.http
        self.http.timeout = 200  # LiteLLM is imported on a busy machine
        registered = self.http.post("/api/projects", json={"path": str(folder)})
        self.project = registered.json()["id"]

    def request(self, **fields: Any) -> dict[str, Any]:
        """The body of a step; `llm` is merged into `llm_config`."""
        config = {
            "modelName": "openai/gpt-4o",
            "tokenLimit": 16_000,
            "reservedOutputTokens": 1_000,
            **fields.pop("llm", {}),
        }
        return {
            "project_id": self.project,
            "session_id": str(uuid.uuid4()),
            "user_query": "Where is the price computed?",
            "conversation_history": [],
            "available_tools_prompt_segment": TOOLS,
            "llm_config": config,
            "user_api_keys": {"llmKey": KEY},
            "max_iterations_left": 5,
            **fields,
        }

    def post(self, **fields: Any) -> Any:
        """The HTTP answer to a step."""
        return self.http.post("/api/agent/react_step", json=self.request(**fields))

    def step(self, **fields: Any) -> dict[str, Any]:
        """A step that was served."""
        answer = self.post(**fields)
        assert answer.status_code == 200, answer.text
        return answer.json()

    @property
    def prompt(self) -> str:
        """What the model was sent last."""
        return self.model.requests[-1].text


@contextmanager
def service(
    base: Path, *arguments: str, options: Mapping[str, Any] | None = None, **environment: str
) -> Iterator[Service]:
    """A server for a folder with one project, and a model server behind it."""
    folder = base / "root" / "shop"
    folder.mkdir(parents=True)
    (folder / "shop.py").write_text("def price(cents):\n    return cents / 100\n")
    config = base / "state" / "config" / "retrai"
    config.mkdir(parents=True)
    plugins = {"litellm": {"max_retries": 0}, "react": dict(options or {})}
    (config / "config.yml").write_text(json.dumps({"plugins": plugins}))
    with model_server() as model:
        environment = {
            "OPENAI_API_BASE": model.url,
            "DEEPSEEK_API_BASE": model.url,
            "OPENAI_API_KEY": "sk-of-the-server-0123456789",
            **environment,
        }
        with serving(base / "root", base / "state", *arguments, **environment) as served:
            yield Service(served, model, folder)


def turn(role: str, content: str, **more: Any) -> dict[str, Any]:
    """A turn of a history."""
    return {"role": role, "content": content, **more}


def acted(name: str, parameters: Mapping[str, Any], thought: str = "look") -> dict[str, Any]:
    """An assistant's turn with an action."""
    call = {"name": name, "parameters": dict(parameters)}
    return turn("assistant", thought, toolCall=call)


def observed(text: str, *, success: bool = True) -> dict[str, Any]:
    """The observation behind it."""
    result = {"success": success, "result": text}
    return turn("tool_observation", text, toolResult=result)


def roles(history: Sequence[Mapping[str, Any]]) -> list[str]:
    """Who speaks."""
    return [each["role"] for each in history]
