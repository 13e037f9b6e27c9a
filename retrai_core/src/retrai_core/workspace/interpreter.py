"""Finds the Python for the project's code: the project's own, never retrai's by accident."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from .environments import hatch_python, poetry_python, uv_python

PROBE_TIMEOUT_S = 20
PROBE = "import sys; print('python %d.%d' % sys.version_info[:2])"


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python program.

    Attributes:
        path: absolute; a virtual environment's link is not resolved, for it is what makes the
            program find the environment's packages.
        origin: why this one, for people (`.venv in the project`).
    """

    path: str
    origin: str


def find_interpreter(project: Path, configured: str | None = None) -> Interpreter:
    """The interpreter of a project; starts programs, so call it in a thread.

    In this order: what the configuration names; `.venv` or `venv` in the project; the active
    environment (`VIRTUAL_ENV`); the environment that uv, poetry or hatch keeps for a project that
    uses it; `python3` on PATH.

    Args:
        project: the project's folder.
        configured: `python:` of the configuration: a program's name, its path (relative to the
            project), or a virtual environment's folder.

    Raises:
        UsageError: the configured one does not exist or does not run, or there is none at all.
    """
    if configured:
        return _configured(project, configured)
    broken: list[str] = []
    for path, origin in _candidates(project):
        if _is_program(path):
            note = f" ({', '.join(broken)} has no working python)" if broken else ""
            return Interpreter(os.path.abspath(path), origin + note)
        broken.append(origin)
    raise UsageError(
        f"no Python was found for {project}",
        hint="name one with `python: /path/to/python` in .retrai.yml",
    )


def _candidates(project: Path) -> Iterator[tuple[Path, str]]:
    for name in (".venv", "venv"):
        if (project / name).is_dir():
            yield environment_python(project / name), f"{name} in the project"
    active = os.environ.get("VIRTUAL_ENV")
    if active:
        yield environment_python(Path(active)), f"VIRTUAL_ENV={active}"
    ways: tuple[tuple[str, Callable[[Path], Path | None]], ...] = (
        ("uv", uv_python),
        ("poetry", poetry_python),
        ("hatch", hatch_python),
    )
    for name, find in ways:
        found = find(project)
        if found is not None:
            yield found, f"{name}'s environment of the project"
    for name in ("python3", "python"):
        on_path = shutil.which(name)
        if on_path:
            yield Path(on_path), f"{name} on PATH"
    yield Path(sys.executable), "retrai's own, for no other was found"


def environment_python(folder: Path) -> Path:
    """The interpreter inside a virtual environment's folder."""
    for name in ("bin/python", "bin/python3"):
        # Not `Path.exists`, which raises where the folder is closed to us.
        if os.path.exists(folder / name):
            return folder / name
    return folder / "bin" / "python"


def _is_program(path: Path) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _configured(project: Path, configured: str) -> Interpreter:
    hint = "correct `python:` in .retrai.yml"
    expanded = os.path.expanduser(configured)
    if os.sep in expanded or os.path.lexists(project / expanded):
        path = project / expanded
        if path.is_dir():
            path = environment_python(path)
    else:
        found = shutil.which(expanded)
        if found is None:
            raise UsageError(f"python: {configured!r} is not on PATH", hint=hint)
        path = Path(found)
    path = Path(os.path.abspath(path))
    if not path.exists():
        where = "" if str(path) == configured else f" ({path})"
        raise UsageError(f"python: {configured!r} does not exist{where}", hint=hint)
    try:
        probe = subprocess.run(
            [str(path), "-c", PROBE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"python: {configured!r} does not run: {error}", hint=hint) from error
    if probe.returncode != 0 or not probe.stdout.startswith(b"python "):
        raise UsageError(f"python: {configured!r} is not a working Python", hint=hint)
    return Interpreter(str(path), f"`python: {configured}` in the configuration")
