"""Which Python runs a project's code."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from retrai_core import UsageError
from retrai_core.workspace.interpreter import find_interpreter


def _environment(folder: Path) -> Path:
    """Something that looks like a virtual environment, and whose python runs."""
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text("home = /nowhere\n")
    (folder / "bin" / "python").symlink_to(sys.executable)
    return folder / "bin" / "python"


def _program(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def bare_environment(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No active environment, and a PATH with nothing but a `python3` of its own."""
    programs = project.parent / "programs"
    _program(programs / "python3", "exit 0")
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("UV_PROJECT_ENVIRONMENT", raising=False)
    monkeypatch.setenv("PATH", str(programs))
    return programs


def test_the_projects_environment_comes_before_the_active_one(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    active = _environment(project.parent / "active")
    monkeypatch.setenv("VIRTUAL_ENV", str(active.parents[1]))
    assert find_interpreter(project).path == str(active)

    own = _environment(project / "venv")
    assert find_interpreter(project).path == str(own)

    own = _environment(project / ".venv")
    found = find_interpreter(project)
    # The link itself: resolved, it would not find the environment's packages.
    assert found.path == str(own)
    assert found.origin == ".venv in the project"


def test_an_environment_whose_python_is_gone_is_passed_over_and_named(
    project: Path, bare_environment: Path
) -> None:
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "bin" / "python").symlink_to("/nowhere/python3.9")

    found = find_interpreter(project)

    assert found.path == str(bare_environment / "python3")
    assert found.origin == "python3 on PATH (.venv in the project has no working python)"


@pytest.mark.parametrize(
    ("tool", "marker", "text", "answer"),
    [
        ("uv", "uv.lock", "", "{environment}/bin/python"),
        ("poetry", "poetry.lock", "", "{environment}/bin/python"),
        ("hatch", "pyproject.toml", "[tool.hatch.envs.default]", "{environment}"),
    ],
)
def test_the_environment_that_a_tool_keeps_is_found_where_the_project_uses_it(
    project: Path, bare_environment: Path, tool: str, marker: str, text: str, answer: str
) -> None:
    environment = _environment(project.parent / "kept")
    line = answer.format(environment=environment.parents[1])
    _program(bare_environment / tool, "echo 'a warning' >&2", f"echo {line}")
    assert find_interpreter(project).origin == "python3 on PATH"

    (project / marker).write_text(text)

    found = find_interpreter(project)
    assert found.path == str(environment)
    assert tool in found.origin


@pytest.mark.parametrize(
    "line", ["exit 1", "echo /nowhere/bin/python", "echo /usr/bin/python3", ""]
)
def test_a_tool_without_an_environment_is_passed_over(
    project: Path, bare_environment: Path, line: str
) -> None:
    (project / "uv.lock").write_text("")
    _program(bare_environment / "uv", line)

    assert find_interpreter(project).origin == "python3 on PATH"


def test_a_missing_tool_is_passed_over(project: Path) -> None:
    (project / "poetry.lock").write_text("")

    assert find_interpreter(project).origin == "python3 on PATH"


@pytest.mark.parametrize("configured", ["{path}", "env", "./env/bin/python", "mypython"])
def test_a_configured_interpreter_comes_first(
    project: Path, bare_environment: Path, configured: str
) -> None:
    _environment(project / ".venv")
    path = _environment(project / "env")
    (bare_environment / "mypython").symlink_to(sys.executable)

    found = find_interpreter(project, configured.format(path=path))

    expected = bare_environment / "mypython" if configured == "mypython" else path
    assert found.path == str(expected)
    assert configured.format(path=path) in found.origin


@pytest.mark.parametrize(
    ("configured", "words"),
    [
        ("/nowhere/python", "does not exist"),
        ("python9.9", "not on PATH"),
        ("env", "does not exist"),
        ("broken", "does not run"),
        ("not-python", "not a working Python"),
        ("dead-link", "does not exist"),
    ],
)
def test_a_configured_interpreter_that_does_not_work_is_a_usage_error(
    project: Path, configured: str, words: str
) -> None:
    (project / "env").mkdir()
    (project / "broken").write_text("no program")
    _program(project / "not-python", "echo hello")
    os.symlink("/nowhere", project / "dead-link")

    with pytest.raises(UsageError) as refused:
        find_interpreter(project, configured)

    assert words in str(refused.value)
    assert "python:" in str(refused.value)
