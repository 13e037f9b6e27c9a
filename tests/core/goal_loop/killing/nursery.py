"""Starts runs in processes of their own, kills them, and goes on with them, until they have ended.

    python nursery.py FOLDER SEED KILLS

Everything is imported once; each process is a fork, so that fifty of them take seconds. A process
counts the points that it passes: every event, before and after it is kept, and the plugins' own
points, in the middle of calls,
checks and model calls. At the point that the seed names it sends itself SIGKILL. One line of JSON
on standard output tells each run: its id, its project, and after how many points it was killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import careful_plugins
import langgraph.graph  # noqa: F401 - what a run imports later is imported before the forks

import retrai_core.agents.goal_loop.act
import retrai_core.agents.goal_loop.evaluate
import retrai_core.agents.goal_loop.human_check
import retrai_core.agents.goal_loop.plan
import retrai_core.runs.agent_run
import retrai_core.runs.executor
import retrai_core.runs.work
import retrai_core.storage.checkpoints  # noqa: F401 - as above
from retrai_core import AgentEvent, Claim, FilesStore, RunConfig, RunManager, RunRequest

FARTHEST = 150
"""A kill comes after at most so many points; a run of six turns passes about 280."""
NEVER = 10**9


class Counter:
    """Ends this process at the given point."""

    def __init__(self, last: int) -> None:
        self.left = last
        self.passed = 0

    def __call__(self, *_: object) -> None:
        self.passed += 1
        self.left -= 1
        if self.left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)


class CountingStore(FilesStore):
    """A store whose writing of events has points before and after it."""

    def __init__(self, state: Path, counter: Counter) -> None:
        super().__init__(state=state)
        self.counter = counter

    async def append_events(self, claim: Claim, events: Sequence[AgentEvent]) -> int:
        last_seq = 0
        for event in events:
            self.counter()
            last_seq = await super().append_events(claim, [event])
            self.counter()
        return last_seq if events else await super().append_events(claim, [])


async def work(state: Path, run_id: str, counter: Counter) -> None:
    """Begin the run, or go on with it."""
    careful_plugins.stands_at = counter
    async with RunManager(CountingStore(state, counter), "inline") as manager:
        run = await manager.get(run_id)
        if (await run.record()).status == "pending":
            await manager.attach()
        else:
            await run.resume()
        await run.result()
        (run.folder / "points").write_text(str(counter.passed))


async def made(state: Path, config: RunConfig) -> str:
    """A run that waits to begin: its id."""
    async with RunManager(FilesStore(state=state), "inline", max_parallel=0) as manager:
        return (await manager.submit(RunRequest(config=config))).id


def forked(state: Path, run_id: str, last: int) -> bool:
    """Whether the run ended by itself in a process that is killed at point `last`."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            asyncio.run(work(state, run_id, Counter(last)))
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    assert os.WEXITSTATUS(status) == 0, f"run {run_id} failed by itself"
    return True


def status_after_kill(store: FilesStore, run_id: str) -> str:
    """The run's status, as soon as no child of the killed process holds the run any more: one that
    has not yet begun its program has inherited the lock."""
    deadline = time.monotonic() + 30
    while (status := asyncio.run(store.load(run_id)).status) == "running":
        assert time.monotonic() < deadline, f"run {run_id} is still held"
        time.sleep(0.01)
    return status


def main() -> None:
    """One run that is left alone, then runs that are killed, until there were enough kills."""
    folder, seed, wanted = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    store = FilesStore(state=folder / "state")
    dice = random.Random(seed)
    done = number = 0
    while number == 0 or done < wanted:
        project = folder / f"project{number}"
        project.mkdir()
        (project / "protected.txt").write_text("as it is\n")
        config = RunConfig(
            cwd=project,
            goal="all-written",
            model="careful",
            python=sys.executable,
            memory="none",
            sandbox="local",
            max_iterations=60,
        )
        run_id = asyncio.run(made(store.state, config))
        kills: list[int] = []
        while True:
            last = dice.randint(1, FARTHEST) if number and done < wanted else NEVER
            if forked(store.state, run_id, last):
                break
            kills.append(last)
            done += 1
            if status_after_kill(store, run_id) not in ("pending", "interrupted"):
                break  # killed after the end was kept
        ended = asyncio.run(store.load(run_id))
        if ended.status != "achieved":
            sys.exit(f"run {run_id} ended {ended.status}: {ended.reason}")
        told = {"id": run_id, "project": str(project), "kills": len(kills), "after": kills}
        print(json.dumps(told), flush=True)
        number += 1


if __name__ == "__main__":
    main()
