"""Small broken projects, and the real worker that fixes them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from retrai_core import ProcessOptions, RunContext
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_llm_offline.answer import Answer, parse
from retrai_llm_offline.searching import WORKER
from retrai_sandbox_local.sandbox import LocalSandbox

MakeProject = Callable[[Mapping[str, str]], Path]
Search = Callable[..., Answer]


@pytest.fixture
def make_project(tmp_path: Path) -> MakeProject:
    """Writes files (indentation taken off) into a project in a path with spaces and an umlaut."""

    def make(files: Mapping[str, str]) -> Path:
        project = tmp_path / "mein Projekt für retrai"
        for name, text in files.items():
            path = project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text).lstrip("\n"), "utf-8", newline="")
        return project

    return make


@pytest.fixture
def search() -> Search:
    """Runs the worker on a project; pytest loads no plugin there (this environment's are slow)."""

    def start(project: Path, cpu_s: float = 15.0, **request: Any) -> Answer:
        asked = {"root": str(project), "cpu_s": cpu_s, "wall_s": 200.0, **request}
        done = subprocess.run(
            [sys.executable, str(WORKER / "launch.py")],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
            env={
                **os.environ,
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                "PYTHONDONTWRITEBYTECODE": "1",
            },
        )
        answer = parse(done.stdout)
        assert answer is not None, done.stderr
        return answer

    return start


def fixed(project: Path, answer: Answer) -> str:
    """Apply an answer's patches as `file_patch` would, and run the tests; pytest's output."""
    for step in answer.steps:
        path = project / step.path
        text = path.read_text("utf-8")
        for old, new in step.patches:
            assert text.count(old) == 1
            text = text.replace(old, new)
        path.write_text(text, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return done.stdout if done.returncode else "passed"


@pytest.fixture
async def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RunContext]:
    """A run's context with a real sandbox, over the project that `make_project` fills."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    project = tmp_path / "mein Projekt für retrai"
    project.mkdir(exist_ok=True)
    context = RunContext("r1", project, SafeWorkspace(project), sys.executable, tmp_path)
    options = ProcessOptions(grace_s=0.2, pass_env=["PYTEST_DISABLE_PLUGIN_AUTOLOAD"])
    context.sandbox_part = LocalSandbox(options, context)
    yield context
    await context.sandbox.aclose()
