"""Model servers on this machine are found by what they answer, and no other machine is asked."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from retrai_core import find_local_servers, local_address

pytestmark = pytest.mark.filterwarnings("error")  # of a thread that ends with an exception

PATIENT_S = 30.0
OLLAMA = {
    "/api/tags": {
        "models": [
            {"name": "qwen2.5-coder:7b", "details": {"family": "qwen2"}},
            {"name": "nomic-embed-text:latest", "details": {"family": "nomic-bert"}},
        ]
    }
}
LM_STUDIO = {
    "/api/v0/models": {
        "data": [{"id": "qwen3-coder", "type": "llm"}, {"id": "nomic", "type": "embeddings"}]
    }
}
VLLM = {"/v1/models": {"data": [{"id": "Qwen/Qwen3-8B", "owned_by": "vllm"}]}}
LLAMA_CPP = {"/v1/models": {"data": [{"id": "model.gguf", "owned_by": "llamacpp"}]}}

Serve = Callable[[Mapping[str, Any]], int]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server on loopback that answers these paths; its port."""
    servers: list[ThreadingHTTPServer] = []

    def start(pages: Mapping[str, Any]) -> int:
        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args: Any) -> None:
                """Says nothing."""

            def do_GET(self) -> None:
                known = pages.get(self.path)
                data = known if isinstance(known, bytes) else json.dumps(known).encode()
                self.send_response(404 if known is None else 200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server.server_port

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def nobody() -> str:
    """An address where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture
def nowhere(nobody: str) -> dict[str, str]:
    """Variables by which no server is found."""
    names = ("OLLAMA_HOST", "LM_STUDIO_API_BASE", "HOSTED_VLLM_API_BASE", "LLAMAFILE_API_BASE")
    return dict.fromkeys(names, nobody)


def test_each_of_them_is_found_with_the_models_that_can_chat(
    serve: Serve, nowhere: dict[str, str]
) -> None:
    ports = [serve(pages) for pages in (OLLAMA, LM_STUDIO, VLLM, LLAMA_CPP)]
    environ = {
        "OLLAMA_HOST": f"0.0.0.0:{ports[0]}",
        "LM_STUDIO_API_BASE": f"http://localhost:{ports[1]}/v1",
        "HOSTED_VLLM_API_BASE": f"http://127.0.0.1:{ports[2]}/v1",
        "LLAMA_ARG_PORT": str(ports[3]),
    }
    found = find_local_servers(environ, limit_s=PATIENT_S)
    assert [(s.kind, s.title, s.models) for s in found] == [
        ("ollama", "Ollama", ("qwen2.5-coder:7b",)),
        ("lm_studio", "LM Studio", ("qwen3-coder",)),
        ("vllm", "vLLM", ("Qwen/Qwen3-8B",)),
        ("llama_cpp", "llama.cpp", ("model.gguf",)),
    ]
    assert [s.address for s in found] == [f"http://127.0.0.1:{port}" for port in ports]


def test_where_nobody_listens_nothing_is_found(nowhere: dict[str, str]) -> None:
    assert find_local_servers(nowhere, limit_s=PATIENT_S) == []


@pytest.mark.parametrize(
    "answer",
    [b"", b"<html>", b"[]", b"{}", b"null", b'{"models": 1}', b'{"models": [1]}', b"[" * 100_000],
    ids=str,
)
def test_another_server_at_the_usual_port_is_none_of_them(
    serve: Serve, nowhere: dict[str, str], answer: bytes
) -> None:
    port = serve({"/api/tags": answer, "/api/v0/models": answer, "/v1/models": answer})
    environ = dict.fromkeys(nowhere, f"http://127.0.0.1:{port}")
    assert find_local_servers(environ, limit_s=PATIENT_S) == []


def test_what_another_kind_of_server_has_is_not_taken_for_its_own(
    serve: Serve, nowhere: dict[str, str]
) -> None:
    environ = dict.fromkeys(nowhere, f"http://127.0.0.1:{serve(LLAMA_CPP)}")
    assert [s.kind for s in find_local_servers(environ, limit_s=PATIENT_S)] == ["llama_cpp"]


def test_one_that_never_answers_keeps_nobody_waiting(serve: Serve, nowhere: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        environ = nowhere | {"HOSTED_VLLM_API_BASE": f"http://127.0.0.1:{port}"}
        assert find_local_servers(environ, limit_s=0.2) == []


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("", "http://127.0.0.1:11434"),
        (":11500", "http://127.0.0.1:11500"),
        ("localhost", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://127.0.0.1:1/api", "http://127.0.0.1:1"),
        ("[::1]:7", "http://[::1]:7"),
        ("192.168.0.7:11434", None),
        ("models.example.org", None),
        ("127.0.0.1.example.org", None),
        ("https://127.0.0.1:11434", None),
        ("http://127.0.0.1:port", None),
        ("http://user@example.org@127.0.0.1", "http://127.0.0.1:11434"),
    ],
)
def test_only_loopback_is_asked(said: str, asked: str | None) -> None:
    assert local_address("ollama", {"OLLAMA_HOST": said}) == asked
