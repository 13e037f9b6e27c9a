"""What a project's package.json says about its tests."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Runner = Literal["jest", "vitest", "mocha", "node"]

_PROGRAMS: Mapping[str, Runner] = {
    "jest": "jest",
    "react-scripts": "jest",
    "vitest": "vitest",
    "mocha": "mocha",
    "_mocha": "mocha",
}
_NODE = {"node", "nodejs", "tsx", "ts-node"}
_COMMANDS = re.compile(r"&&|\|\||[;|&]")
_WORKSPACES = re.compile(
    r"\s(?:-ws?|--workspaces?)\b|\b(?:turbo|nx|lerna)\b|\byarn workspaces?\b"
    r"|\bpnpm\b.*\s(?:-r|-F|--recursive|--filter)\b"
)
_ANOTHER = re.compile(r"^(?:npm|pnpm|yarn)(?:\s+run)?(?:\s+-\S+)*\s+(?P<script>[\w:.-]+)\s*$")


class PackageJson(BaseModel):
    """The part of package.json that matters here."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    scripts: dict[str, str] = {}
    dependencies: dict[str, str] = {}
    dev_dependencies: dict[str, str] = Field({}, validation_alias="devDependencies")
    jest: Any = None
    mocha: Any = None


@dataclass(frozen=True, slots=True)
class TestScript:
    """How a project's tests are started.

    Attributes:
        script: the script whose last command is the runner.
        runner: the runner.
        program: the word that starts it (`react-scripts`).
        line: the script's text.
    """

    script: str
    runner: Runner
    program: str
    line: str


def read_package(folder: Path) -> PackageJson | str:
    """A folder's package.json, or one line that says why there is none to read."""
    path = folder / "package.json"
    try:
        return PackageJson.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return f"there is no package.json in {folder}; name its folder with --option path=..."
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}"
    except ValidationError as error:
        return f"{path} is not what npm can use: {error.errors()[0]['msg']}"


def find_test_script(package: PackageJson, script: str) -> TestScript | str:
    """How `npm run SCRIPT` starts which runner, or one line that says why it cannot be told.

    Args:
        package: the project's package.json.
        script: the script's name; one that only calls another script stands for that one.

    Example:
        >>> package = PackageJson(scripts={"test": "npm run unit", "unit": "tsc && jest --ci"})
        >>> found = find_test_script(package, "test")
        >>> found.script, found.runner
        ('unit', 'jest')
    """
    seen: list[str] = []
    while script not in seen:
        seen.append(script)
        line = package.scripts.get(script, "").strip()
        if not line or "no test specified" in line:
            others = ", ".join(sorted(package.scripts)) or "none"
            return (
                f"package.json has no script `{script}` that runs tests (its scripts: {others}); "
                "add one, or name it with --option script=..."
            )
        another = _ANOTHER.match(line)
        if another is None or _WORKSPACES.search(line):
            return _runner_of(script, line)
        script = another["script"]
    return f"the scripts {', '.join(seen)} of package.json call each other"


def runner_among_dependencies(package: PackageJson) -> str:
    """A runner that package.json depends on; empty where it is none."""
    every = {*package.dependencies, *package.dev_dependencies}
    return next((name for name in ("jest", "vitest", "mocha") if name in every), "")


def _runner_of(script: str, line: str) -> TestScript | str:
    commands = [command for command in _COMMANDS.split(line) if command.strip()]
    found = _in_command(commands[-1]) if commands else None
    if found is not None:
        return TestScript(script, found[0], found[1], line)
    if any(_in_command(command) for command in commands):
        return (
            f"the script `{script}` runs more after its tests ({line}), so no option can be added "
            "for the report; name a script that ends with the runner with --option script=..."
        )
    if _WORKSPACES.search(line):
        return (
            f"the script `{script}` runs the tests of other packages ({line}); name one's folder "
            "with --option path=..., or take `shell-goal` with check_command"
        )
    return (
        f"what the script `{script}` runs ({line}) is none of jest, vitest, mocha and node:test; "
        "name another with --option script=..., or take `shell-goal` with check_command"
    )


def _in_command(command: str) -> tuple[Runner, str] | None:
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    names = [word.rpartition("/")[2].removesuffix(".js") for word in words]
    for name in names:
        if name in _PROGRAMS:
            return _PROGRAMS[name], name
    if _NODE & set(names) and "--test" in words:
        return "node", "node --test"
    return None
