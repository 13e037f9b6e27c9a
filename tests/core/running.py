"""Runs as tests make them: through the session API, in this process, from their config alone."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

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

Answering = Callable[[Question], Awaitable[str]]
"""Gives the answer to a question: a choice, or a word for yes or no."""


def manager_for(store: FilesStore, **settings: Any) -> RunManager:
    """A manager with a store object of its own on the same place, which it closes."""
    return RunManager(FilesStore(state=store.state), "inline", **settings)


@asynccontextmanager
async def submitted(
    store: FilesStore, config: RunConfig, *, interactive: bool = False
) -> AsyncGenerator[Run]:
    """A run that has been submitted; what is left of it is stopped at the end."""
    async with manager_for(store) as manager:
        yield await manager.submit(RunRequest(config=config, interactive=interactive))


async def work(store: FilesStore, config: RunConfig, answer: Answering | None = None) -> RunRecord:
    """Make a run, and answer what it asks; its record at the end."""
    async with submitted(store, config, interactive=answer is not None) as run:
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
    async with RunManager(FilesStore(state=Path(sys.argv[1])), "inline") as manager:
        run = await manager.submit(RunRequest.model_validate_json(sys.argv[2]))
        await run.result()

asyncio.run(make())
"""


@asynccontextmanager
async def elsewhere(
    store: FilesStore, config: RunConfig, *paths: Path, interactive: bool = False
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A process of its own that makes a run; it is killed at the end where it still works.

    Args:
        store: where the run is kept.
        config: the run's.
        paths: where the process imports plugins from, beside what is installed.
        interactive: somebody answers the run's questions.
    """
    request = RunRequest(config=config, interactive=interactive)
    command = [sys.executable, "-c", MAKING, str(store.state), request.model_dump_json()]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    process = await asyncio.create_subprocess_exec(*command, env=env)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
