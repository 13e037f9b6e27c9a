"""Runs as tests make them: through the session API, in this process, from their config alone."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from retrai_core import (
    AgentEvent,
    FilesStore,
    Question,
    Run,
    RunConfig,
    RunManager,
    RunRecord,
    RunRequest,
)
from retrai_core.storage.event_log import read_events

Answering = Callable[[Question], Awaitable[str]]
"""Gives the answer to a question: a choice, or a word for yes or no."""


def manager_for(store: FilesStore, engine: str = "inline", **settings: Any) -> RunManager:
    """A manager with a store object of its own on the same place, which it closes."""
    return RunManager(FilesStore(state=store.state), engine, **settings)


@asynccontextmanager
async def submitted(
    store: FilesStore,
    config: RunConfig,
    *,
    interactive: bool = False,
    origins: Mapping[str, str] | None = None,
) -> AsyncGenerator[Run]:
    """A run that has been submitted; what is left of it is stopped at the end."""
    async with manager_for(store) as manager:
        where = dict(origins or {})
        yield await manager.submit(
            RunRequest(config=config, interactive=interactive, origins=where)
        )


async def work(
    store: FilesStore,
    config: RunConfig,
    answer: Answering | None = None,
    origins: Mapping[str, str] | None = None,
) -> RunRecord:
    """Make a run, and answer what it asks; its record at the end."""
    async with submitted(store, config, interactive=answer is not None, origins=origins) as run:
        return await (run.result() if answer is None else _answered(run, answer))


async def resumed(store: FilesStore, run_id: str, **limits: Any) -> RunRecord:
    """Go on with a run; its record at the end."""
    async with manager_for(store) as manager:
        run = await manager.get(run_id)
        await run.resume(**limits)
        return await run.result()


async def reached(run: Run, kind: str, **payload: Any) -> AgentEvent:
    """Wait for the first event of this kind with these values in its payload."""
    async for event in run.events():
        if event.kind == kind and payload.items() <= dict(event.payload).items():
            return event
    raise AssertionError(f"the run ended without {kind} {payload}")


async def stop_at(store: FilesStore, config: RunConfig, tool: str) -> RunRecord:
    """Make a run, and stop it as soon as it calls this tool; its record at the end."""
    async with submitted(store, config) as run:
        await reached(run, "tool_call", tool=tool)
        await run.cancel("interrupted")
        return await run.result()


async def _answered(run: Run, answer: Answering) -> RunRecord:
    async def answer_all() -> None:
        async for event in run.events():
            if event.kind == "human_check_required":
                for question in await run.questions():
                    await run.answer(question.id, await answer(question))

    answering, result = asyncio.ensure_future(answer_all()), asyncio.ensure_future(run.result())
    await asyncio.wait({answering, result}, return_when=asyncio.FIRST_COMPLETED)
    if answering.done() and not answering.cancelled():
        answering.result()  # an assertion of the test, which the run would wait for
    try:
        return await result
    finally:
        answering.cancel()
        await asyncio.wait({answering})


MAKING = """
import asyncio, sys
from pathlib import Path
from retrai_core import FilesStore, RunManager, RunRequest

async def make():
    async with RunManager(FilesStore(state=Path(sys.argv[1])), sys.argv[3]) as manager:
        run = await manager.submit(RunRequest.model_validate_json(sys.argv[2]))
        await run.result()

asyncio.run(make())
"""


@asynccontextmanager
async def elsewhere(
    store: FilesStore,
    asked: RunConfig | RunRequest,
    *,
    interactive: bool = False,
    engine: str = "inline",
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A process of its own that makes a run; it is killed at the end where it still works.

    Args:
        store: where the run is kept.
        asked: the run's configuration, or the whole request.
        interactive: somebody answers the run's questions.
        engine: what executes the run there.
    """
    request = asked
    if isinstance(asked, RunConfig):
        request = RunRequest(config=asked, interactive=interactive)
    command = [sys.executable, "-c", MAKING, str(store.state), request.model_dump_json(), engine]
    env = os.environ | {"PYTHONPATH": str(SITE)}
    process = await asyncio.create_subprocess_exec(*command, env=env)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


SITE = Path(__file__).parent / "goal_loop" / "site"
"""Where the scripted goal, model and tools are."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which one of two files is wrong."""
    monkeypatch.syspath_prepend(str(SITE))
    monkeypatch.delenv("RETRAI_PLUGINS", raising=False)
    folder = tmp_path / "project"
    (folder / "checks").mkdir(parents=True)
    (folder / "expected.txt").write_text("a.txt: right\nb.txt: fine\n")
    (folder / "a.txt").write_text("wrong\n")
    (folder / "b.txt").write_text("fine\n")
    (folder / "checks" / "check.txt").write_text("the check\n")
    return folder


class Runs:
    """Runs in one project, and what they left."""

    def __init__(self, project: Path, state: Path) -> None:
        self.project = project
        self.store = FilesStore(state=state)

    def config(self, turns: Sequence[dict[str, Any]], **settings: Any) -> RunConfig:
        plugins = {"turns": {"turns": list(turns)}, **settings.pop("plugins", {})}
        plain = {
            "python": sys.executable,
            "max_iterations": 6,
            "memory": "none",
            "sandbox": "local",
        }
        settings = plain | settings
        return RunConfig(cwd=self.project, model="turns", plugins=plugins, **settings)

    async def run(
        self,
        turns: Sequence[dict[str, Any]],
        ask: Answering | None = None,
        origins: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> RunRecord:
        return await work(self.store, self.config(turns, **settings), ask, origins)

    async def resume(self, run_id: str, **limits: Any) -> RunRecord:
        return await resumed(self.store, run_id, **limits)

    async def stopped_at(
        self, tool: str, turns: Sequence[dict[str, Any]], **settings: Any
    ) -> RunRecord:
        """A run that is stopped as soon as it calls this tool."""
        return await stop_at(self.store, self.config(turns, **settings), tool)

    def events(self, record: RunRecord, kind: str | None = None) -> list[AgentEvent]:
        every = read_events(self.store.folder(record.id) / "events.jsonl")
        return [event for event in every if kind in (None, event.kind)]

    def tool_results(self, record: RunRecord) -> list[str]:
        """What the model was given as the result of each call, in order."""
        journal = (self.store.folder(record.id) / "journal.jsonl").read_text().splitlines()
        return [entry["end"]["content"] for entry in map(json.loads, journal) if "end" in entry]

    def checks(self, record: RunRecord) -> list[str]:
        """The folders in which the goal was really checked."""
        return (self.store.folder(record.id) / "checks").read_text().splitlines()

    def seen(self, record: RunRecord) -> list[list[str]]:
        """What the model was sent, call by call."""
        path = self.store.folder(record.id) / "seen.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def runs(project: Path, tmp_path: Path) -> Runs:
    """Runs whose records stand in the test's own state folder."""
    return Runs(project, tmp_path / "state")
