"""For tests of goals on real projects: a project with goals built for it, and whole runs of it.

A folder of tests takes the fixtures by importing them in its conftest.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from retrai_core import GoalBase, ProcessOptions, RunContext
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_sandbox_local.sandbox import LocalSandbox

EXAMPLES = Path(__file__).parents[1] / "examples"


class Bench:
    """A project, and goals built for it.

    Attributes:
        project: the project's folder.
        context: the run that every goal here belongs to.
    """

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.project.mkdir()
        run_dir = folder / "run"
        run_dir.mkdir()
        self.context = RunContext(
            "r1", self.project, SafeWorkspace(self.project), sys.executable, run_dir
        )
        self.context.sandbox_part = LocalSandbox(ProcessOptions(), self.context)

    def write(self, files: Mapping[str, str]) -> None:
        """Write files by relative path."""
        for name, text in files.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def copy_example(self, name: str) -> None:
        """Make an example of this repository the project."""
        shutil.copytree(EXAMPLES / name, self.project, dirs_exist_ok=True)

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace a text that stands in a file."""
        text = (self.project / name).read_text(encoding="utf-8")
        assert old in text
        (self.project / name).write_text(text.replace(old, new), encoding="utf-8")

    def build(self, goal: type[GoalBase], **options: Any) -> Any:
        """One instance of a goal."""
        built = goal(goal.Options(**options), self.context)
        self.context.goal_part = built
        return built


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    made = Bench(tmp_path)
    yield made
    await made.context.sandbox.aclose()


@pytest.fixture
def diff_of() -> Callable[[str, str], str]:
    """A unified diff that adds one line to a file."""

    def make(path: str, line: str) -> str:
        return f"--- a/{path}\n+++ b/{path}\n@@ -1 +1,2 @@\n one\n+{line}\n"

    return make


@dataclass(frozen=True)
class Ended:
    """How `retrai run --json` ended: its exit code, the run record, and what it told people."""

    exit_code: int
    record: Mapping[str, Any]
    progress: str

    @property
    def outcome(self) -> tuple[int, str]:
        """Exit code and outcome; fails with what the command said when it printed no record."""
        assert self.record, self.progress
        return self.exit_code, self.record["status"]


Call = tuple[str, Mapping[str, Any]]
Run = Callable[..., Ended]


@pytest.fixture
def run_goal(tmp_path: Path, retrai_here: Callable[..., subprocess.CompletedProcess[str]]) -> Run:
    """Run a goal in a project with a model that replays these tool calls, an iteration each."""

    def run(
        goal: str, project: Path, *calls: tuple[str, Mapping[str, Any]], **options: Any
    ) -> Ended:
        record = tmp_path / "recorded.jsonl"
        record.write_text("".join(map(_answer, range(len(calls)), calls)), encoding="utf-8")
        command = ["run", goal, "-C", str(project), "--json", "--trust"]
        command += ["-m", f"replay:{record}", "-n", str(len(calls))]
        for name, value in options.items():
            command += ["--option", f"{name}={value}"]
        folders = {f"XDG_{n}_HOME": str(tmp_path / "home" / n) for n in ("STATE", "CONFIG", "DATA")}
        kept = {name: value for name, value in os.environ.items() if name[:7] != "RETRAI_"}
        python = {"RETRAI_PYTHON": os.environ["TESTS_PROJECT_PYTHON"]}
        done = retrai_here(*command, env={**kept, **folders, **python})
        printed: dict[str, Any] = json.loads(done.stdout) if done.stdout.strip() else {}
        return Ended(done.returncode, printed, done.stderr)

    return run


def _answer(number: int, call: Call) -> str:
    """One line of a run log: the model asks for one tool."""
    name, args = call
    calls = [{"id": f"c{number}", "name": name, "args": dict(args)}]
    event = {"kind": "llm_usage", "run_id": "r", "iteration": number, "ts": 0.0}
    return json.dumps({**event, "payload": {"text": f"step {number}", "tool_calls": calls}}) + "\n"
