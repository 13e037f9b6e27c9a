"""Finds the virtual environment that uv, poetry or hatch manages for a project."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

ASK_TIMEOUT_S = 15


def uv_python(project: Path) -> Path | None:
    """uv's environment, where a `uv.lock` stands; None without one."""
    if not (project / "uv.lock").is_file():
        return None
    named = os.environ.get("UV_PROJECT_ENVIRONMENT")
    if named:
        return _of_environment(project / named)
    answer = _ask(project, ["uv", "python", "find"])
    # Without an environment uv answers with any Python that fits, which lacks the packages.
    return _in_environment(Path(answer)) if answer else None


def poetry_python(project: Path) -> Path | None:
    """poetry's environment, where a `poetry.lock` stands; None without one."""
    if not (project / "poetry.lock").is_file():
        return None
    answer = _ask(project, ["poetry", "env", "info", "--executable"])
    return _in_environment(Path(answer)) if answer else None


def hatch_python(project: Path) -> Path | None:
    """hatch's default environment, where hatch environments are configured; None without one."""
    if not _configures_hatch(project):
        return None
    answer = _ask(project, ["hatch", "env", "find", "default"])
    return _of_environment(Path(answer)) if answer else None


def _of_environment(folder: Path) -> Path | None:
    python = folder / "bin" / "python"
    return python if python.exists() else None


def _in_environment(python: Path) -> Path | None:
    """`python`, if it is a virtual environment's."""
    return python if (python.parent.parent / "pyvenv.cfg").is_file() else None


def _configures_hatch(project: Path) -> bool:
    if (project / "hatch.toml").is_file():
        return True
    try:
        data = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
    except (OSError, ValueError):
        return False
    found: object = data
    for key in ("tool", "hatch", "envs"):
        if not isinstance(found, Mapping):
            return False
        found = cast(Mapping[str, object], found).get(key)
    return found is not None


def _ask(project: Path, argv: Sequence[str]) -> str | None:
    """The last line that a tool prints; None when it is missing, fails or takes too long."""
    program = shutil.which(argv[0])
    if program is None:
        return None
    try:
        answer = subprocess.run(
            [program, *argv[1:]],
            cwd=project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ASK_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = answer.stdout.decode("utf-8", "replace").split("\n")
    named = [line.strip() for line in lines if line.strip()]
    return named[-1] if answer.returncode == 0 and named else None
