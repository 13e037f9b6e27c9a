"""`--max-time` and a model's server: silent, overloaded for ever, or too slow to wait for."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from retrai_core import FilesStore

LIMITS_S = (12, 60)
"""The next one where the run had not come to the server before its time was over."""
TIMEOUT_S = 120


class SilentServer:
    """Accepts connections, reads what comes, and never answers.

    Attributes:
        heard: the connections on which something came, oldest first; what came on each.
        closed: set when all of them were closed by the other side.
    """

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self.heard: list[bytearray] = []
        self._open = 0
        self._change = threading.Condition()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._read, args=[connection], daemon=True).start()

    def _read(self, connection: socket.socket) -> None:
        heard = bytearray()
        with self._change:
            self._open += 1
            self.heard.append(heard)
        with connection:
            try:
                while data := connection.recv(65536):
                    heard += data
            except ConnectionResetError:
                pass
        with self._change:
            self._open -= 1
            self._change.notify_all()

    def all_closed(self) -> bool:
        """Whether every connection is closed, now or soon."""
        with self._change:
            return self._change.wait_for(lambda: self._open == 0, TIMEOUT_S)

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def silent() -> Iterator[SilentServer]:
    server = SilentServer()
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def retrai(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command in a project whose check fails."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("wrong\n")
    settings = {
        "goal": "shell-goal",
        "check_command": "grep -q right a.txt",
        "memory": "none",
        "plugins": {"litellm": {"max_wait_s": 1000, "max_retries": 1000}},
    }
    (project / ".retrai.yml").write_text(json.dumps(settings))
    kept = {name: text for name, text in os.environ.items() if not name.startswith("RETRAI_")}
    state, config = str(tmp_path / "state"), str(tmp_path / "config")
    own = {"RETRAI_STATE_DIR": state, "XDG_CONFIG_HOME": config, "RETRAI_TRUST": "1"}

    def run(*words: str, url: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "retrai_core", *words],
            cwd=project,
            env={**kept, **own, "OPENAI_API_KEY": "sk-loopback", "OPENAI_API_BASE": url},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    return run


def run_until_asked(retrai: Any, url: str, asked: Callable[[], Any]) -> dict[str, Any]:
    """The record of a run whose time was over while the server was asked."""
    for limit_s in LIMITS_S:
        done = retrai("run", "-m", "openai/gpt-4o", "--max-time", f"{limit_s}", "--json", url=url)
        assert done.returncode == 6, done.stdout + done.stderr
        if asked():
            return json.loads(done.stdout)
    raise AssertionError("the server was not asked")


def test_a_server_that_never_answers_ends_with_the_time_and_is_hung_up_on(
    retrai: Any, silent: SilentServer
) -> None:
    record = run_until_asked(retrai, silent.url, lambda: any(silent.heard))
    assert record["status"] == "budget"
    assert record["needed"]["limit"] == "max_time_s"
    assert silent.all_closed()


@pytest.mark.parametrize(
    ("status", "headers"),
    [(429, {"Retry-After": "600"}), (500, {})],
)
def test_retries_and_their_waiting_end_with_the_time(
    retrai: Any, wire: Any, answer: Any, status: int, headers: dict[str, str]
) -> None:
    wire.answers.append(answer(status, {"error": {"message": "later"}}, headers))
    record = run_until_asked(retrai, wire.url, lambda: wire.bodies)
    assert record["status"] == "budget"
    assert record["needed"]["limit"] == "max_time_s"


def test_a_run_goes_on_behind_its_limit(retrai: Any, wire: Any, answer: Any, tmp_path) -> None:
    wire.answers.append(answer(500, {"error": {"message": "later"}}))
    record = run_until_asked(retrai, wire.url, lambda: wire.bodies)
    call = {"name": "file_write", "arguments": json.dumps({"path": "a.txt", "content": "right\n"})}
    message = {
        "role": "assistant",
        "tool_calls": [{"id": "c1", "type": "function", "function": call}],
    }
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    made = {"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-4o"}
    wire.answers[:] = [answer(200, {**made, "choices": [choice], "usage": usage})]
    done = retrai("runs", "resume", record["id"], "--max-time", "600", url=wire.url)
    assert done.returncode == 0, done.stdout + done.stderr
    ended = asyncio.run(FilesStore(state=tmp_path / "state").load(record["id"]))
    assert (ended.status, ended.tokens.total) == ("achieved", 15)
