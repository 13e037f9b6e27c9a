"""A run's context around a temporary project, and ways to write records."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from retrai_core import AgentEvent, RunContext
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_llm_replay.provider import ReplayOptions, ReplayProvider

MakeModel = Callable[..., Any]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def events() -> list[AgentEvent]:
    """What the context's parts published."""
    return []


@pytest.fixture
def context(tmp_path: Path, project: Path, events: list[AgentEvent]) -> RunContext:
    return RunContext(
        "run-1",
        project,
        SafeWorkspace(project),
        sys.executable,
        tmp_path / "run",
        on_event=events.append,
    )


@pytest.fixture
def model_of(context: RunContext) -> MakeModel:
    """Make the model of a record, as the wiring does: options, provider, model."""

    def make(record: Path | str, run_dir: Path | None = None, **options: Any) -> Any:
        here = replace(context, run_dir=run_dir) if run_dir else context
        provider = ReplayProvider(ReplayOptions(**options), here)
        return provider.create(f"replay:{record}", 0.0, here)

    return make


@pytest.fixture
def write_trajectory(tmp_path: Path) -> Callable[..., Path]:
    """Write a mini-swe-agent record whose answers run these shell commands."""

    def write(*commands: str, cwd: str = "/testbed", name: str = "run.traj.json") -> Path:
        messages: list[dict[str, Any]] = [{"role": "system", "content": "s"}]
        for number, command in enumerate(commands):
            arguments = json.dumps({"command": command})
            call = {"id": f"c{number}", "function": {"name": "bash", "arguments": arguments}}
            messages += [
                {"role": "assistant", "content": f"step {number}", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"c{number}", "content": "<returncode>0"},
            ]
        info = {"config": {"environment": {"cwd": cwd}}}
        path = tmp_path / name
        path.write_text(json.dumps({"info": info, "messages": messages}), encoding="utf-8")
        return path

    return write


@pytest.fixture
def write_run(tmp_path: Path) -> Callable[..., Path]:
    """Write a run folder from events, and the project that its record names."""

    def write(events: Iterable[AgentEvent], recorded_project: str = "") -> Path:
        folder = tmp_path / "recorded-run"
        folder.mkdir()
        lines = [event.to_json() + "\n" for event in events]
        (folder / "events.jsonl").write_text("".join(lines), encoding="utf-8")
        if recorded_project:
            record = json.dumps({"id": "r0", "project": recorded_project})
            (folder / "run.json").write_text(record, encoding="utf-8")
        return folder

    return write
