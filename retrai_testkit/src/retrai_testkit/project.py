"""What the fixture `retrai_project` gives: a project to run retrai on, and what the runs left."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from retrai_core import AgentEvent, FilesStore, RunRecord
from retrai_core.storage.event_log import read_events

from .script import ScriptedModel
from .scripted import SEEN

DEFAULTS: Mapping[str, Any] = {
    "python": sys.executable,
    "sandbox": "local",
    "memory": "none",
    "max_iterations": 6,
}
"""What a project's configuration says unless a test says otherwise."""


@dataclass(frozen=True)
class FinishedRun:
    """A command that has ended.

    Attributes:
        exit_code: 0 achieved, 1 failed, 2 nothing was run, ...
        stdout: what it printed; for a run, the record as JSON.
        stderr: what it said beside that.
        folder: the run's folder; None when no run was started.
    """

    exit_code: int
    stdout: str
    stderr: str
    folder: Path | None = None

    @property
    def record(self) -> RunRecord:
        """The run's record."""
        if self.folder is None:
            raise AssertionError(f"no run was started:\n{self.stderr}")
        return RunRecord.model_validate_json((self.folder / "run.json").read_bytes())

    def events(self, kind: str | None = None) -> list[AgentEvent]:
        """Every event of the run, or those of one kind."""
        if self.folder is None:
            return []
        every = read_events(self.folder / "events.jsonl")
        return [event for event in every if kind in (None, event.kind)]

    def tool_results(self) -> list[str]:
        """What the model read as the result of each call, in order."""
        if self.folder is None or not (self.folder / "journal.jsonl").exists():
            return []
        lines = (self.folder / "journal.jsonl").read_text("utf-8").splitlines()
        entries = [json.loads(line) for line in lines]
        return [str(entry["end"]["content"]) for entry in entries if "end" in entry]

    def seen(self) -> list[list[str]]:
        """What a scripted model was sent: the texts of the messages, request by request."""
        if self.folder is None or not (self.folder / SEEN).exists():
            return []
        lines = (self.folder / SEEN).read_text("utf-8").splitlines()
        return [json.loads(line)["messages"] for line in lines]


def _finished(store: FilesStore, record: RunRecord) -> FinishedRun:
    folder = store.folder(record.id)
    return FinishedRun(record.exit_code or 0, record.model_dump_json(), "", folder)


class RetraiProject:
    """A project in a temporary folder. Runs on it leave their records in a folder of their own.

    Attributes:
        folder: the project.
        state: the state folder that stands in for the user's.
        environment: variables for the commands, beside those of this process.

    Example:
        >>> import tempfile
        >>> from retrai_testkit import ScriptedModel, call
        >>> project = RetraiProject(Path(tempfile.mkdtemp()))
        >>> project.write({"a.txt": "wrong"})
        >>> script = ScriptedModel().play(call("put_file", path="a.txt", text="right"))
        >>> run = project.run("expected-files", model=script, files={"a.txt": "right"})
        >>> run.record.status, project.read("a.txt")
        ('achieved', 'right')
    """

    def __init__(self, base: Path) -> None:
        self.folder = base / "project"
        self.folder.mkdir(parents=True)
        self.state = base / "state"
        self.environment: dict[str, str] = {
            "RETRAI_STATE_DIR": str(self.state),
            "XDG_CONFIG_HOME": str(base / "config"),
            "RETRAI_TRUST": "1",  # what stands in the project's file is the test's own word
            "PYTHONDONTWRITEBYTECODE": "1",
            "NO_COLOR": "1",
        }
        self._settings: dict[str, Any] = dict(DEFAULTS)

    def write(self, files: Mapping[str, str]) -> None:
        """Write files, by their path in the project."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def read(self, path: str) -> str:
        """The text of a file of the project."""
        return (self.folder / path).read_text("utf-8")

    def configure(self, **settings: Any) -> None:
        """Set keys of `.retrai.yml`; `plugins` is merged, so that a script stays in it."""
        plugins = {**self._settings.get("plugins", {}), **settings.pop("plugins", {})}
        self._settings |= settings | ({"plugins": plugins} if plugins else {})
        text = yaml.safe_dump(self._settings, sort_keys=False)
        (self.folder / ".retrai.yml").write_text(text, encoding="utf-8")

    def run(
        self,
        goal: str | None = None,
        *,
        model: ScriptedModel | str | None = None,
        timeout_s: float = 120,
        **settings: Any,
    ) -> FinishedRun:
        """Run `retrai run GOAL --json` in a process of its own.

        Args:
            goal: the goal's name; None lets retrai find it from the project.
            model: a script, or a model's name.
            timeout_s: wall-clock seconds.
            settings: further keys of `.retrai.yml`: the goal's options, `tools`, `plugins`, ...

        Raises:
            subprocess.TimeoutExpired: it was still running; it has been ended.
        """
        script: Mapping[str, Any] = model.settings if isinstance(model, ScriptedModel) else {}
        named = {"model": model} if isinstance(model, str) else {}
        plugins: dict[str, Any] = {**script.get("plugins", {}), **settings.pop("plugins", {})}
        self.configure(**{**script, **named, **settings, "plugins": plugins})
        before = self._runs()
        done = self.command(
            "run", *([goal] if goal else []), "-C", str(self.folder), "--json", timeout_s=timeout_s
        )
        new = sorted(self._runs() - before)
        folder = FilesStore(state=self.state).folder(new[0]) if new else None
        return FinishedRun(done.exit_code, done.stdout, done.stderr, folder)

    def run_here(
        self, goal: str | None, *, model: ScriptedModel | str, **settings: Any
    ) -> FinishedRun:
        """The same run in this process: quicker, and a debugger can look into it.

        Configuration files and `RETRAI_*` variables play no part. `settings` are as for `run`.

        Raises:
            RetraiError: nothing can be run like that.
        """
        from retrai_core import RunConfig, RunManager, RunRequest

        script: Mapping[str, Any] = (
            model.settings if isinstance(model, ScriptedModel) else {"model": model}
        )
        plugins = {**script.get("plugins", {}), **settings.pop("plugins", {})}
        given: dict[str, Any] = {**DEFAULTS, **settings, "goal": goal, "model": script["model"]}
        known = {*RunConfig.model_fields, "model"}
        options = {name: value for name, value in given.items() if name not in known}
        own = {name: value for name, value in given.items() if name in known}
        config = RunConfig(cwd=self.folder, plugins=plugins, options=options, **own)
        store = FilesStore(state=self.state)

        async def work() -> RunRecord:
            async with RunManager(store, "inline") as manager:
                run = await manager.submit(RunRequest(config=config))
                return await run.result()

        return _finished(store, asyncio.run(work()))

    def resume_here(self, run: FinishedRun, **limits: Any) -> FinishedRun:
        """Go on with a run that was stopped, in this process; `limits` as for `Run.resume`."""
        from retrai_core import RunManager

        store, run_id = FilesStore(state=self.state), run.record.id

        async def work() -> RunRecord:
            async with RunManager(store, "inline") as manager:
                resumed = await manager.get(run_id)
                await resumed.resume(**limits)
                return await resumed.result()

        return _finished(store, asyncio.run(work()))

    def resume(self, run: FinishedRun, *, timeout_s: float = 120) -> FinishedRun:
        """Go on with a run that was stopped, in a process of its own."""
        assert run.folder is not None, "no run was started"
        done = self.command("runs", "resume", run.folder.name, timeout_s=timeout_s)
        return FinishedRun(done.exit_code, done.stdout, done.stderr, run.folder)

    def command(self, *args: str, timeout_s: float = 120) -> FinishedRun:
        """Any command of retrai, in a process of its own (`command("plugins", "list")`)."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith("RETRAI_")}
        done = subprocess.run(
            [sys.executable, "-m", "retrai_core", *args],
            cwd=self.folder,
            env={**kept, **self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        return FinishedRun(done.returncode, done.stdout, done.stderr)

    def _runs(self) -> set[str]:
        folder = FilesStore(state=self.state).runs
        return {path.name for path in folder.iterdir()} if folder.is_dir() else set()
