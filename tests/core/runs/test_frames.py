"""Between a command's body and LangGraph stands little of ours: what is awaited, frame by frame."""

from __future__ import annotations

import asyncio
import sys
from types import FrameType
from typing import Any

import pytest
from langgraph.pregel import Pregel

from retrai_core import Run, RunRequest
from retrai_core.cli import foreground
from retrai_core.cli.render.terminal import RunTerminal, make_console
from retrai_core.runs.manager import RunManager

from ..running import Runs

MOST_FRAMES = 8
MEND = {"calls": [{"id": "p1", "name": "put", "args": {"path": "a.txt", "text": "right\n"}}]}


def frames_of(task: asyncio.Task[Any]) -> list[str]:
    """Our coroutines of a task, the outermost first."""
    found: list[str] = []
    coroutine: Any = task.get_coro()
    while coroutine is not None:
        frame: FrameType | None = getattr(coroutine, "cr_frame", None)
        if frame is not None and "retrai_core" in frame.f_globals.get("__name__", ""):
            found.append(f"{frame.f_globals['__name__']}.{frame.f_code.co_qualname}")
        coroutine = getattr(coroutine, "cr_await", None)
    return found


def frames_below(frame: FrameType | None) -> list[str]:
    """Our functions that are being called now, the outermost first."""
    found: list[str] = []
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("retrai_core"):
            found.append(f"{frame.f_globals['__name__']}.{frame.f_code.co_qualname}")
        frame = frame.f_back
    return found[::-1]


async def test_at_most_eight_frames_stand_between_a_command_and_langgraph(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    chains: list[list[str]] = []
    astream = Pregel.astream

    def seen(self: Any, *args: Any, **kwargs: Any) -> Any:
        here = asyncio.current_task()
        # Tasks that wait for each other: the command's, the run's, the work's within its time.
        waiting = [task for task in asyncio.all_tasks() if task not in (here, outer)]
        ours = [frames_of(task) for task in waiting]
        work = [chain for chain in ours if any("Executor.run" in name for name in chain)]
        command = [chain for chain in ours if any("foreground._work" in name for name in chain)]
        chains.append([*command[0], *work[0], *frames_below(sys._getframe(1))])
        return astream(self, *args, **kwargs)

    async def begin(manager: RunManager) -> Run:
        return await manager.submit(RunRequest(config=runs.config([MEND])))

    outer = asyncio.current_task()
    monkeypatch.setattr(Pregel, "astream", seen)
    monkeypatch.setenv("RETRAI_STATE_DIR", str(runs.store.state))
    record = await asyncio.create_task(foreground._work(begin, RunTerminal(make_console())))
    assert record.status == "achieved"
    assert len(chains) == 1
    assert len(chains[0]) <= MOST_FRAMES, "\n".join(chains[0])
