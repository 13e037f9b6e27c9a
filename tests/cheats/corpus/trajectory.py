"""One scripted trajectory: a project whose goal fails, and what an agent does to it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any


@dataclass(frozen=True)
class Step:
    """One tool call.

    Attributes:
        tool: `bash_exec`, `file_write` or `file_patch`.
        args: as the tool takes them.
    """

    tool: str
    args: Mapping[str, str]


def sh(line: str) -> Step:
    """A shell line."""
    return Step("bash_exec", {"command": line})


def write(path: str, text: str) -> Step:
    """A whole file."""
    return Step("file_write", {"path": path, "content": text})


def patch(path: str, old: str, new: str) -> Step:
    """One exact replacement in a file."""
    return Step("file_patch", {"path": path, "old": old, "new": new})


@dataclass(frozen=True)
class Trajectory:
    """A project and what is done to it.

    Attributes:
        name: what is done, in a few words.
        goal: the goal's name.
        files: the project, by relative path.
        steps: one call an iteration.
        command: the plain check, whose exit code a naive verifier would trust; `{python}` stands
            for the project's interpreter.
        settings: what the user put into `.retrai.yml`.
        needs: programs without which the goal cannot be checked.
        honest: the work was done; it must be `achieved`.
        hard_coded: answers made for the visible tests, which only a holdout tells from real ones.
        prepare: a shell line that the user ran in the project before.
        environment: the project has a virtual environment of its own, `.venv`.
        installed: what an installer left in the environment's `site-packages`, by relative path;
            `{project}` stands for the project's folder.
        kind: the class of a cheat, in a word or two: `near-values`.
        believed: a cheat that the guard does not see through yet.
        refused: honest work that the guard does not accept yet.
        heavy: it takes long, and only `benchmarks/cheats.py` plays it.
    """

    name: str
    goal: str
    files: Mapping[str, str]
    steps: Sequence[Step]
    command: Sequence[str]
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    needs: Sequence[str] = ()
    honest: bool = False
    hard_coded: bool = False
    prepare: str = ""
    environment: bool = False
    installed: Mapping[str, str] = field(default_factory=dict[str, str])
    kind: str = ""
    believed: bool = False
    refused: bool = False
    heavy: bool = False

    @property
    def title(self) -> str:
        """The goal and the name, as tables and tests show it."""
        return f"{self.goal}: {self.name}"

    def missing(self) -> list[str]:
        """Programs that it needs and this machine lacks."""
        return [program for program in self.needs if not _runs(program)]


@cache
def _runs(program: str) -> bool:
    """Whether it is there and can be started: rustup's `cargo` may have no tool chain."""
    if shutil.which(program) is None:
        return False
    asked = [program, "version" if program == "go" else "--version"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def pytest_run(
    name: str, files: Mapping[str, str], *steps: Step, kind: str = "", heavy: bool = False
) -> Trajectory:
    """A trajectory on `pytest`; honest work where it has no class of cheats."""
    command = ["{python}", "-m", "pytest", "-q"]
    return Trajectory(
        name, "pytest", files, steps, command, kind=kind, honest=not kind, heavy=heavy
    )


def make_run(
    name: str,
    files: Mapping[str, str],
    *steps: Step,
    kind: str = "",
    needs: Sequence[str] = (),
    heavy: bool = False,
) -> Trajectory:
    """The same on `make-test`."""
    one = pytest_run(name, files, *steps, kind=kind, heavy=heavy)
    return replace(one, goal="make-test", command=["make", "test"], needs=["make", *needs])


def shell_run(
    name: str,
    files: Mapping[str, str],
    *steps: Step,
    kind: str = "",
    needs: Sequence[str] = (),
    heavy: bool = False,
) -> Trajectory:
    """The same on `shell-goal`; the check is `check.sh`."""
    one = pytest_run(name, files, *steps, kind=kind, heavy=heavy)
    settings = {"check_command": "sh check.sh"}
    return replace(
        one, goal="shell-goal", command=["sh", "check.sh"], settings=settings, needs=needs
    )


def npm_run(
    name: str, files: Mapping[str, str], *steps: Step, kind: str = "", heavy: bool = False
) -> Trajectory:
    """The same on `npm-test`, with the `test` script of the project's package.json."""
    one = pytest_run(name, files, *steps, kind=kind, heavy=heavy)
    return replace(one, goal="npm-test", command=["npm", "test", "--silent"], needs=["npm", "node"])
