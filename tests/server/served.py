"""A `retrai serve` in a process of its own, and a client of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import httpx
from websockets.sync.client import ClientConnection, connect

from retrai_testkit import ScriptedModel, Turn, call

FINAL = ("achieved", "failed", "aborted", "stuck", "budget", "interrupted", "error", "flaky")
_LIMIT_S = 180.0


class Served:
    """A server that answers.

    Attributes:
        root: the folder that it serves.
        state: the state folder.
        port, token: where, and how to get in.
        http: a client with the token.
    """

    def __init__(self, process: subprocess.Popen[str], root: Path, state: Path) -> None:
        self.process = process
        self.root = root
        self.state = state
        self.said: list[str] = []
        address = ""
        assert process.stdout is not None
        while "token=" not in address:
            address = process.stdout.readline()
            if not address:
                raise AssertionError(f"the server ended: {process.wait()} {self.said}")
            self.said.append(address.strip())
        parts = urlsplit(address.strip())
        self.port = cast("int", parts.port)
        self.token = parse_qs(parts.query)["token"][0]
        self.base = f"http://{parts.netloc}"
        self.http = httpx.Client(
            base_url=self.base, headers={"Authorization": f"Bearer {self.token}"}, timeout=60
        )

    def project(self, name: str, text: str = "wrong") -> Path:
        """A project with a file that says `text`."""
        folder = self.root / name
        folder.mkdir(parents=True)
        (folder / "a.txt").write_text(text)
        return folder

    def start(self, project: Path | str, *turns: Turn, **more: Any) -> str:
        """Begin a run that wants `right` in a.txt; its id."""
        answer = self.http.post("/api/runs", json=request(project, *turns, **more))
        assert answer.status_code == 201, answer.text
        return str(answer.json()["run_id"])

    def show(self, run_id: str) -> dict[str, Any]:
        """A run."""
        return cast("dict[str, Any]", self.http.get(f"/api/runs/{run_id}").json())

    def wait(self, run_id: str, *statuses: str) -> dict[str, Any]:
        """A run, once it has one of the statuses, or has ended."""
        wanted = statuses or FINAL
        return until(lambda: self.show(run_id), lambda run: run["status"] in wanted)

    def socket(self, path: str, **more: Any) -> ClientConnection:
        """A WebSocket with the token."""
        headers = {"Authorization": f"Bearer {self.token}", **more.pop("headers", {})}
        return connect(
            f"ws://127.0.0.1:{self.port}{path}",
            additional_headers=headers,
            compression=None,
            proxy=None,
            **more,
        )

    def events(self, run_id: str, query: str = "") -> list[dict[str, Any]]:
        """What the WebSocket of a run sends until it closes."""
        with self.socket(f"/api/ws/{run_id}{query}") as socket:
            return [json.loads(message) for message in socket]

    def stop(self) -> int:
        """End it with SIGTERM; the exit code."""
        self.http.close()
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(30)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


def request(project: Path | str, *turns: Turn, **more: Any) -> dict[str, Any]:
    """The body of a `POST /api/runs`."""
    script = ScriptedModel().play(*turns).settings
    plugins = {**script["plugins"], **more.pop("plugins", {})}
    return {
        "cwd": str(project),
        "goal": "expected-files",
        "options": {"files": {"a.txt": "right"}},
        "model_name": "scripted",
        "plugins": plugins,
        "python": sys.executable,
        "sandbox": "local",
        "memory": "none",
        **more,
    }


def put(text: str) -> Turn:
    """A turn that writes a.txt."""
    return call("put_file", path="a.txt", text=text)


def until(look: Callable[[], Any], is_so: Callable[[Any], bool]) -> Any:
    """What `look` gives, once it is so."""
    ends_at = time.monotonic() + _LIMIT_S
    while True:
        found = look()
        if is_so(found):
            return found
        assert time.monotonic() < ends_at, found
        time.sleep(0.05)


@contextmanager
def serving(root: Path, state: Path, *arguments: str, **environment: str) -> Iterator[Served]:
    """A server for a folder; it ends with the block."""
    root.mkdir(exist_ok=True, parents=True)
    process = start(["--root", str(root), "-p", "0", *arguments], state, **environment)
    served: Served | None = None
    try:
        served = Served(process, root, state)
        yield served
    finally:
        if served is not None:
            served.stop()
        if process.poll() is None:
            process.kill()
            process.wait()


def start(arguments: Sequence[str], state: Path, **environment: str) -> subprocess.Popen[str]:
    """A process of `retrai serve`."""
    state.mkdir(exist_ok=True, parents=True)
    return subprocess.Popen(
        [sys.executable, "-m", "retrai_core", "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=(state / "stderr").open("a"),
        stdin=subprocess.DEVNULL,
        text=True,
        env={
            **os.environ,
            "RETRAI_STATE_DIR": str(state),
            "XDG_CONFIG_HOME": str(state / "config"),
            **environment,
        },
    )
