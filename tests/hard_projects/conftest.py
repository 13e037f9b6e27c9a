"""Whole runs in processes of their own, on projects that make life hard."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

RUN_TIMEOUT_S = 120

# The projects are tested by the interpreter of these tests, whose pytest plugins cost more CPU time
# than the rest of a run; none of them is needed there.
PYTEST_INI = """[pytest]
addopts = -p no:langsmith_plugin -p no:xdist -p no:asyncio -p no:anyio -p no:hypothesispytest
"""
VANISH_TIMEOUT_S = 10

# linux/prctl.h and linux/capability.h
PR_SET_CHILD_SUBREAPER = 36
PR_CAPBSET_DROP = 24
CAP_DAC_OVERRIDE = 1
CAP_DAC_READ_SEARCH = 2


@dataclass(frozen=True)
class Ended:
    """How `retrai run --json` ended.

    Attributes:
        exit_code: the command's.
        record: the run record it printed; empty when it printed none.
        progress: what it wrote to standard error.
        events: the run log.
        leftovers: processes of the run that still lived when the command had ended.
    """

    exit_code: int
    record: Mapping[str, Any]
    progress: str
    events: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    leftovers: list[str] = field(default_factory=list[str])

    @property
    def outcome(self) -> tuple[int, str]:
        """Exit code and outcome; fails with what the command said when it printed no record."""
        assert self.record, self.progress
        return self.exit_code, self.record["status"]

    def results_of(self, tool: str) -> list[Mapping[str, Any]]:
        """The payloads of a tool's results, in order."""
        return [
            event["payload"]
            for event in self.events
            if event["kind"] == "tool_result" and event["payload"]["tool"] == tool
        ]


Here = Callable[..., subprocess.CompletedProcess[str]]


class Retrai:
    """Runs `retrai run pytest` with a state folder of its own."""

    def __init__(self, room: Path) -> None:
        self.room = room
        self.heeds_modes = False
        self.here: Here | None = None

    def record(self, *calls: tuple[str, Mapping[str, Any]]) -> Path:
        """A recorded run that makes these calls, one an answer."""
        path = self.room / "recorded.jsonl"
        lines: list[str] = []
        for number, (name, args) in enumerate(calls):
            call = {"id": f"c{number}", "name": name, "args": dict(args)}
            payload = {"text": f"step {number}", "tool_calls": [call]}
            event = {"kind": "llm_usage", "run_id": "r", "iteration": number, "ts": 0.0}
            lines.append(json.dumps({**event, "payload": payload}) + "\n")
        path.write_text("".join(lines), encoding="utf-8")
        return path

    def run(
        self, project: Path, *calls: tuple[str, Mapping[str, Any]], options: Mapping[str, Any] = {}
    ) -> Ended:
        """Replay these calls in `project`, an iteration each."""
        command = ["run", "pytest", "-C", str(project)]
        command += ["-m", f"replay:{self.record(*calls)}", "-n", str(len(calls)), "--json"]
        for key, value in options.items():
            command += ["--option", f"{key}={value}"]
        started = time.time()
        adopt_orphans()
        done = self._done(command)
        logs = list(self.room.rglob("runs/*/events.jsonl"))
        lines = logs[0].read_text(encoding="utf-8").splitlines() if logs else []
        return Ended(
            done.returncode,
            json.loads(done.stdout) if done.stdout.strip() else {},
            done.stderr,
            [json.loads(line) for line in lines],
            self.leftovers(started),
        )

    def _done(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        if self.here is not None:
            return self.here(*command, env=self.environment(), cwd=self.room)
        return subprocess.run(
            [sys.executable, "-m", "retrai_core", *command],
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=RUN_TIMEOUT_S,
            cwd=self.room,
            preexec_fn=heed_modes if self.heeds_modes else None,
        )

    def environment(self) -> dict[str, str]:
        """What the command sees; `XDG_STATE_HOME` also marks every process of the run."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("RETRAI_", "XDG_", "PYTEST_", "VIRTUAL_ENV"))
        }
        home = self.room / "home"
        home.mkdir(exist_ok=True)
        folders = {f"XDG_{name}_HOME": str(home / name) for name in ("STATE", "CONFIG", "CACHE")}
        # The projects have no environment of their own: they use the tests' interpreter.
        python = {"RETRAI_PYTHON": os.environ["TESTS_PROJECT_PYTHON"], "RETRAI_TRUST": "1"}
        return {**kept, "HOME": str(home), **folders, **python}

    def leftovers(self, started: float, timeout_s: float = VANISH_TIMEOUT_S) -> list[str]:
        """What still lives of the run, after a moment in which it may vanish."""
        found = {process for process in psutil.process_iter() if self.is_ours(process)}
        # A second's tolerance: the kernel counts start times in ticks since boot.
        found |= {
            process
            for process in psutil.Process().children(recursive=True)
            if process.create_time() >= started - 1
        }
        _, alive = psutil.wait_procs(list(found), timeout=timeout_s)
        return [describe(process) for process in alive]

    def is_ours(self, process: psutil.Process) -> bool:
        try:
            marker = process.environ().get("XDG_STATE_HOME", "")
            return marker == str(self.room / "home" / "STATE") or str(self.room) in process.cwd()
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            # Another user's, or already gone.
            return False


def adopt_orphans() -> None:
    """Become the parent of every orphan below this process, so that none hides from a test."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def heed_modes() -> None:
    """Let file modes bind this process as they bind any user, also when it is root's."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "this root cannot give up a capability")


def describe(process: psutil.Process) -> str:
    try:
        return f"{process.pid}: {' '.join(process.cmdline())}"
    except psutil.Error as error:
        return str(error)


@pytest.fixture
def retrai(tmp_path: Path) -> Retrai:
    return Retrai(tmp_path)


@pytest.fixture
def ini_text() -> str:
    """The pytest.ini of a project in these tests."""
    return PYTEST_INI


@pytest.fixture
def ordinary_retrai(tmp_path: Path) -> Retrai:
    """Runs as somebody who may not write everywhere, as root may."""
    if os.geteuid() == 0 and sys.platform != "linux":
        pytest.skip("root may write everywhere, and only Linux lets it give that up")
    found = Retrai(tmp_path)
    found.heeds_modes = True
    return found


@pytest.fixture
def make_project(tmp_path: Path) -> Callable[..., Path]:
    """Make a project of files by relative path."""

    def make(files: Mapping[str, str], name: str = "project") -> Path:
        folder = tmp_path / name
        for path, text in {"pytest.ini": PYTEST_INI, **files}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        return folder

    return make
