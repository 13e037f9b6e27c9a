"""The contenders of `peers.py`: how each is installed and started, and the project it works on."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OURS = (
    "retrai_core",
    "retrai_goals_python",
    "plugins/retrai_goal_support",
    "plugins/retrai_llm_litellm",
    "plugins/retrai_sandbox_local",
    "plugins/retrai_tools_code",
)
SUBMIT = {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}
MEND = {"path": "ages.py", "old": "age > 18", "new": "age >= 18"}
AGES = "def of_age(age):\n    return age > 18\n"
TEST = """\
import time
from ages import of_age

def test_eighteen_is_of_age():
    time.sleep({seconds})
    assert of_age(18)

def test_seventeen_is_not():
    assert not of_age(17)
"""


@dataclass(frozen=True)
class Peer:
    """One contender.

    Attributes:
        name: as the table shows it.
        environment: the folder of its environment below the cache.
        packages: what is installed there.
        tool: the tool that the server asks for, with the arguments of each call.
        closing_tool: the call that ends the work; None when a word does.
        command: argv after the interpreter, given the server's address and the work folder.
        suite_seconds: how long the project's tests take; None when the peer needs no project.
    """

    name: str
    environment: str
    packages: Sequence[str]
    tool: tuple[str, Callable[[int], dict[str, Any]]]
    closing_tool: tuple[str, dict[str, Any]] | None
    command: Callable[[str, Path], list[str]]
    suite_seconds: float | None = None


def retrai_command(url: str, folder: Path) -> list[str]:
    """A whole `retrai run` in the project in `folder`."""
    options = {"litellm": {"api_base": url}}
    (folder / ".retrai.yml").write_text(json.dumps({"plugins": options}))
    run = ["-m", "retrai_core", "run", "pytest", "-m", "openai/gpt-4o-mini", "-C", str(folder)]
    return [*run, "-n", "60", "--json", "--trust"]


def line_of_notes(number: int) -> dict[str, Any]:
    """The arguments of a trivial call, each with a result of its own."""
    return {"path": "notes.txt", "start_line": number + 1, "end_line": number + 1}


def peer_list() -> list[Peer]:
    """The contenders."""
    retrai = Peer(
        name="retrai",
        environment="retrai",
        packages=["pytest"],
        tool=("file_read", line_of_notes),
        closing_tool=("file_patch", MEND),
        command=retrai_command,
        suite_seconds=0,
    )
    slow = replace(retrai, name="retrai, 8 s suite", suite_seconds=8)
    create_agent = Peer(
        name="create_agent",
        environment="create_agent",
        packages=["langchain", "langchain-litellm", "mcp"],
        tool=("noop", lambda _: {}),
        closing_tool=None,
        command=lambda url, _: [str(HERE / "peer_agents" / "create_agent.py"), url],
    )
    mini = Peer(
        name="mini-swe-agent",
        environment="mini-swe-agent",
        packages=["mini-swe-agent", "mcp"],
        tool=("bash", lambda number: {"command": f": {number}"}),
        closing_tool=("bash", SUBMIT),
        command=lambda url, _: [str(HERE / "peer_agents" / "mini_swe_agent.py"), url],
    )
    return [retrai, slow, create_agent, mini]


def prepare(peer: Peer, cache: Path) -> Path:
    """The interpreter of the peer's environment, made where it is missing; retrai's is renewed."""
    folder = cache / peer.environment
    python = folder / "bin" / "python"
    install = ["install", "--quiet", "--constraint", str(ROOT / "constraints.txt")]
    uv = shutil.which("uv")
    if uv is not None:
        pip = [uv, "pip", install[0], "--python", str(python), "--compile-bytecode", *install[1:]]
        make = [uv, "venv", "--quiet", "--python", sys.executable, str(folder)]
    else:
        pip = [str(python), "-m", "pip", *install]
        make = [sys.executable, "-m", "venv", str(folder)]
    done = folder / "installed.txt"
    wanted = "\n".join([*peer.packages, (ROOT / "constraints.txt").read_text()])
    if not done.is_file() or done.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(make, check=True)
        ours = [str(ROOT / path) for path in OURS] if peer.environment == "retrai" else []
        subprocess.run([*pip, *peer.packages, *ours], check=True)
        done.write_text(wanted)
    elif peer.environment == "retrai":
        fresh = ["--reinstall"] if uv is not None else ["--force-reinstall"]
        paths = [str(ROOT / path) for path in OURS]
        subprocess.run([*pip, "--no-deps", *fresh, *paths], check=True)
    return python


def make_project(folder: Path, suite_seconds: float) -> None:
    """A project with one failing test, which one edit fixes."""
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\ntestpaths = ['.']\n")
    (folder / "ages.py").write_text(AGES)
    (folder / "notes.txt").write_text("".join(f"note {number}\n" for number in range(1000)))
    (folder / "test_ages.py").write_text(TEST.format(seconds=suite_seconds))
