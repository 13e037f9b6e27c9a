"""Model servers on this machine: which of the usual ones answer, with which models."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any, Literal, cast
from urllib.parse import urlsplit

_NO_SUCH_SERVER = (
    *(OSError, HTTPException),
    *(ValueError, TypeError, LookupError, AttributeError, RecursionError),
)
ServerKind = Literal["ollama", "lm_studio", "vllm", "llama_cpp"]

_ANSWER_LIMIT_S = 2.0
_LONGEST_ANSWER = 4_000_000
"""In bytes; a list of some hundred models has a hundredth of it."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A model server that answered.

    Attributes:
        kind: what it is.
        title: its name for people (`Ollama`).
        address: `http://127.0.0.1:11434`, without a path.
        models: the names of the models that it can chat with, as it says them.
    """

    kind: ServerKind
    title: str
    address: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Usual:
    """How to find one kind of server.

    Attributes:
        variables: those that may hold its address, the first that is set counts.
        path: what lists its models.
        read: the models in the answer; None where another kind of server has answered.
    """

    kind: ServerKind
    title: str
    port: int
    variables: Sequence[str]
    path: str
    read: Callable[[Any], Sequence[str] | None]


def find_local_servers(
    environ: Mapping[str, str] | None = None, *, limit_s: float = _ANSWER_LIMIT_S
) -> list[LocalServer]:
    """Ask where Ollama, LM Studio, vLLM and llama.cpp usually listen, all at once.

    Only loopback is asked. `OLLAMA_HOST`, `OLLAMA_API_BASE`, `LM_STUDIO_API_BASE`,
    `HOSTED_VLLM_API_BASE`, `LLAMAFILE_API_BASE` and llama.cpp's own `LLAMA_ARG_HOST` and
    `LLAMA_ARG_PORT` name other ports; a server on another machine is not asked.

    Args:
        environ: the environment variables; the process's own when left out.
        limit_s: seconds for all of them together.

    Returns:
        those that have answered, in this order.

    Example:
        >>> find_local_servers({"OLLAMA_HOST": "http://models.example.org"}, limit_s=0)
        []
    """
    known = os.environ if environ is None else environ
    ends_at = time.monotonic() + limit_s
    found: dict[int, LocalServer] = {}

    def ask(number: int, usual: _Usual, address: str) -> None:
        # Whatever listens there may answer anything: it is no such server then.
        with suppress(*_NO_SUCH_SERVER):
            models = usual.read(_answer(address + usual.path, ends_at))
            if models is not None:
                found[number] = LocalServer(usual.kind, usual.title, address, tuple(models))

    # Daemons: one that is kept waiting by a server keeps nobody else.
    threads = [
        threading.Thread(target=ask, args=(number, usual, address), daemon=True)
        for number, usual in enumerate(_USUAL)
        if (address := local_address(usual.kind, known)) is not None
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, ends_at - time.monotonic()))
    return [server for _, server in sorted(found.items())]


def local_address(kind: ServerKind, environ: Mapping[str, str]) -> str | None:
    """Where such a server listens on this machine; None where it is said to be on another.

    Example:
        >>> local_address("ollama", {"OLLAMA_HOST": "0.0.0.0:11500"})
        'http://127.0.0.1:11500'
        >>> local_address("ollama", {"OLLAMA_HOST": "models.example.org"}) is None
        True
    """
    usual = next(each for each in _USUAL if each.kind == kind)
    for name in usual.variables:
        if said := environ.get(name, "").strip():
            return _on_loopback(said, usual.port)
    if kind == "llama_cpp":
        port = environ.get("LLAMA_ARG_PORT", "").strip() or str(usual.port)
        return _on_loopback(f"{environ.get('LLAMA_ARG_HOST', '').strip()}:{port}", usual.port)
    return f"http://127.0.0.1:{usual.port}"


def _on_loopback(said: str, port: int) -> str | None:
    """An address as a person writes it (`:11500`, `0.0.0.0`, `http://localhost:1234/v1`)."""
    parts = urlsplit(said if "://" in said else f"http://{said}")
    try:
        host, port = parts.hostname or "127.0.0.1", parts.port or port
    except ValueError:  # no number, or none of a port
        return None
    if parts.scheme != "http":
        return None
    if host in ("0.0.0.0", "::", "localhost"):
        host = "127.0.0.1"
    if host == "::1":
        return f"http://[::1]:{port}"
    return f"http://{host}:{port}" if _is_loopback(host) else None


def _is_loopback(host: str) -> bool:
    numbers = host.split(".")
    return len(numbers) == 4 and numbers[0] == "127" and all(n.isdigit() for n in numbers)


def _answer(url: str, ends_at: float) -> Any:
    """The JSON at `url`. No proxy is asked, and no redirection followed."""
    parts = urlsplit(url)
    left_s = ends_at - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=left_s)
    try:
        connection.request("GET", parts.path, headers={"Accept": "application/json"})
        answer = connection.getresponse()
        if answer.status != 200:
            raise HTTPException(str(answer.status))
        return json.loads(answer.read(_LONGEST_ANSWER))
    finally:
        connection.close()


def _list(raw: Any, key: str) -> list[dict[str, Any]]:
    items: Any = raw[key]
    if not isinstance(items, list):
        raise TypeError
    return [cast("dict[str, Any]", item) for item in cast("list[Any]", items)]


def _of_ollama(raw: Any) -> Sequence[str]:
    # An embedding model cannot chat.
    return [
        str(model["name"])
        for model in _list(raw, "models")
        if "bert" not in str(model.get("details"))
    ]


def _of_lm_studio(raw: Any) -> Sequence[str]:
    # Only its own interface says which can chat.
    return [str(m["id"]) for m in _list(raw, "data") if m["type"] in ("llm", "vlm")]


def _owned_by(owner: str) -> Callable[[Any], Sequence[str] | None]:
    def read(raw: Any) -> Sequence[str] | None:
        models = _list(raw, "data")
        ours = [str(model["id"]) for model in models if model.get("owned_by") == owner]
        return ours or None

    return read


_USUAL = (
    _Usual("ollama", "Ollama", 11434, ("OLLAMA_API_BASE", "OLLAMA_HOST"), "/api/tags", _of_ollama),
    _Usual(
        "lm_studio", "LM Studio", 1234, ("LM_STUDIO_API_BASE",), "/api/v0/models", _of_lm_studio
    ),
    _Usual("vllm", "vLLM", 8000, ("HOSTED_VLLM_API_BASE",), "/v1/models", _owned_by("vllm")),
    _Usual(
        "llama_cpp", "llama.cpp", 8080, ("LLAMAFILE_API_BASE",), "/v1/models", _owned_by("llamacpp")
    ),
)
