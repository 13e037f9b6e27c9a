"""A state folder and a configuration folder of each test's own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from retrai_core import AgentEvent
from retrai_core.cli.main import main


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("RETRAI_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("RETRAI_TRUST", "1")
    monkeypatch.setenv("RETRAI_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def retrai(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs a command in this process: exit code, standard output, standard error."""

    def call(*args: object) -> tuple[int, str, str]:
        code = main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def event() -> Callable[..., AgentEvent]:
    """Makes an event of iteration 1."""

    def make(kind: str, **payload: object) -> AgentEvent:
        return AgentEvent(kind, "r1", 1, payload)  # type: ignore[arg-type] # kinds as plain text

    return make


TOY = Path(__file__).parent / "toy"


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, project: Path) -> Callable[..., list[str]]:
    """Installs the toy plugin, asks a question in the project, and gives `run` arguments.

    `toy(turns)` is the arguments of a run whose model takes these turns; each turn is a list of
    calls `(tool, arguments)`.
    """
    monkeypatch.syspath_prepend(str(TOY))
    monkeypatch.setenv("PYTHONPATH", str(TOY))
    (project / "question.txt").write_text("six by nine?")
    (project / ".retrai.yml").write_text("sandbox: local\nmemory: none\n")
    script = project.parent / "script.json"

    def arguments(*turns: list[tuple[str, dict[str, str]]]) -> list[str]:
        script.write_text(json.dumps(turns))
        return ["run", "-C", str(project), "-m", f"script:{script}"]

    return arguments
