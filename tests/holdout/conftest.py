"""Projects with held-out tests, and `retrai` on them with a model that replays tool calls."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from retrai_core import RunContext
from retrai_core.workspace.safe_paths import SafeWorkspace

# Without the pytest plugins of the tests' own interpreter, which cost more than the run itself.
PYTEST_INI = """[pytest]
pythonpath = .
addopts = -p no:langsmith_plugin -p no:xdist -p no:asyncio -p no:anyio -p no:hypothesispytest
"""
SLUG = "def slug(text):\n    return text\n"
SEEN = 'from slug import slug\n\n\ndef test_words():\n    assert slug("Big Cat") == "big-cat"\n'
HELD = (
    "from slug import slug\n\n\n"
    'def test_other_words():\n    assert slug("Small Dog") == "small-dog"\n\n\n'
    'def test_nothing():\n    assert slug("") == ""\n'
)
HARD_CODED = 'def slug(text):\n    return {"Big Cat": "big-cat"}.get(text, text)\n'
GENERAL = 'def slug(text):\n    return "-".join(text.lower().split())\n'

Call = tuple[str, dict[str, Any]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A function that does nothing yet, one test of it, and two that are held out."""
    folder = tmp_path / "work" / "project"
    (folder / "tests" / "concealed").mkdir(parents=True)
    (folder / "pytest.ini").write_text(PYTEST_INI)
    (folder / "slug.py").write_text(SLUG)
    (folder / "tests" / "test_slug.py").write_text(SEEN)
    (folder / "tests" / "concealed" / "test_unseen.py").write_text(HELD)
    return folder


@pytest.fixture
def walls(tmp_path: Path) -> None:
    """Skips where bubblewrap does not work."""
    package = pytest.importorskip("retrai_sandbox_bwrap.sandbox")
    folder = tmp_path / "probed"
    folder.mkdir()
    context = RunContext("probe", folder, SafeWorkspace(folder), sys.executable, folder)
    sandbox = package.BwrapSandbox(package.BwrapSandbox.Options(), context)

    async def probe() -> str | None:
        try:
            return await sandbox.probe()
        finally:
            await sandbox.aclose()

    problem = asyncio.run(probe())
    if problem is not None:
        pytest.skip(f"needs bubblewrap that works: {problem}")


@dataclass(frozen=True)
class Retrai:
    """The command line, with a state folder of its own."""

    room: Path
    project: Path
    run_here: Callable[..., subprocess.CompletedProcess[str]]

    @property
    def state(self) -> Path:
        return self.room / "state"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: text for name, text in os.environ.items() if not name.startswith("RETRAI_")}
        return kept | {
            "RETRAI_STATE_DIR": str(self.state),
            "RETRAI_PYTHON": os.environ["TESTS_PROJECT_PYTHON"],
            "RETRAI_TRUST": "1",
            "XDG_CONFIG_HOME": str(self.room / "config"),
        }

    def command(self, *turns: list[Call], name: str = "recorded") -> list[str]:
        """The arguments of a run whose model asks for these calls, a list a turn."""
        record = self.room / f"{name}.jsonl"
        lines: list[str] = []
        for number, turn in enumerate(turns):
            calls = [
                {"id": f"c{number}-{index}", "name": tool, "args": args}
                for index, (tool, args) in enumerate(turn)
            ]
            event = {"kind": "llm_usage", "run_id": "r", "iteration": number, "ts": 0.0}
            payload = {"text": f"step {number}", "tool_calls": calls}
            lines.append(json.dumps({**event, "payload": payload}) + "\n")
        record.write_text("".join(lines))
        words = ["run", "pytest", "-C", str(self.project)]
        return [*words, "-m", f"replay:{record}", "-n", str(len(turns)), "--json"]

    def retrai(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run_here(*words, env=self.environment)

    def record(self, *turns: list[Call]) -> dict[str, Any]:
        """The record of such a run."""
        done = self.retrai(*self.command(*turns))
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    def configure(self, text: str) -> None:
        (self.project / ".retrai.yml").write_text(f"memory: none\n{text}\n")

    def told(self, record: dict[str, Any]) -> str:
        """All that the run's log, journal and checkpoints hold, as one text."""
        folder = self.state / "runs" / record["id"]
        names = ("events.jsonl", "journal.jsonl", "checkpoint.sqlite", "checkpoint.sqlite-wal")
        there = [folder / name for name in names if (folder / name).exists()]
        return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in there)

    def results(self, record: dict[str, Any]) -> list[str]:
        """What the tool calls gave back."""
        lines = (self.state / "runs" / record["id"] / "journal.jsonl").read_text().splitlines()
        entries = [json.loads(line) for line in lines]
        return [entry["end"]["content"] for entry in entries if "end" in entry]


@pytest.fixture
def command_line(
    tmp_path: Path,
    project: Path,
    retrai_here: Callable[..., subprocess.CompletedProcess[str]],
) -> Retrai:
    return Retrai(tmp_path, project, retrai_here)


@pytest.fixture
def tree() -> Callable[[Path], dict[str, bytes]]:
    """Content by path, but for version control, caches and retrai's own folder."""

    def read(folder: Path) -> dict[str, bytes]:
        left_out = {".git", "__pycache__", ".pytest_cache", ".retrai"}
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not left_out & set(path.parts)
        }

    return read
