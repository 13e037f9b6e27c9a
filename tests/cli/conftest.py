"""A state folder and a configuration folder of each test's own."""

from __future__ import annotations

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
