"""Whole runs on a store of somebody else's: the example, which keeps them in memory."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from retrai_core import RunManager, RunNotFoundError, RunRequest
from retrai_core.errors import WorkspaceLockedError
from retrai_core.workspace.lock import WorkspaceLock

from ..running import Runs, reached

EXAMPLE = Path(__file__).parents[3] / "examples" / "frontends" / "memory_store.py"
HALF = {"calls": [{"id": "h1", "name": "put", "args": {"path": "a.txt", "text": "half\n"}}]}
MEND = {"calls": [{"id": "p1", "name": "put", "args": {"path": "a.txt", "text": "right\n"}}]}


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The example's module; what a run leaves on this machine stands in the test's own folder."""
    monkeypatch.setenv("RETRAI_STATE_DIR", str(tmp_path / "local"))
    spec = spec_from_file_location("memory_store", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "memory_store", module)
    spec.loader.exec_module(module)
    return module


def request(runs: Runs) -> RunRequest:
    config = runs.config([HALF, MEND], plugins={"asks": {"about": "put"}})
    return RunRequest(config=config, interactive=True)


async def test_a_run_is_answered_cancelled_and_resumed_from_another_manager(
    runs: Runs, example: Any
) -> None:
    kept: dict[str, Any] = {}
    async with (
        RunManager(example.InMemory(runs=kept), "inline") as manager,
        RunManager(example.InMemory(runs=kept), "inline") as other,
    ):
        run = await manager.submit(request(runs))
        asked = await reached(run, "human_check_required")
        same = await other.get(run.id)
        assert (await same.record()).status == "waiting"
        [question] = await same.questions()
        assert question.id == asked.payload["question"]["id"]
        assert await same.answer(question.id, "approve")
        assert not await run.answer(question.id, "reject")
        await reached(same, "iteration_complete")
        assert await same.cancel("interrupted")
        assert (await run.result()).status == "interrupted"
        first = [event async for event in same.events()]
        assert (runs.project / "a.txt").read_text() == "half\n"

        await same.resume()
        async for event in same.events(first[-1].seq):
            if event.kind == "human_check_required":
                assert await run.answer(event.payload["question"]["id"], "approve")
        record = await same.result()
        assert (record.status, record.iterations) == ("achieved", 2)
        every = [event async for event in run.events()]
        assert [event.seq for event in every] == list(range(1, len(every) + 1))
        assert every[: len(first)] == first
        assert (every[-1].kind, every[-1].payload["status"]) == ("run_end", "achieved")
        result = await run.tool_result("p1")
        assert result is not None
        assert result.content == "written"
        assert "+right" in await run.diff()

        assert (await manager.prune(keep=0)).removed == [run.id]
        assert not run.folder.exists(), "what stands on this machine goes too"
        with pytest.raises(RunNotFoundError):
            await run.record()


async def test_a_run_that_cannot_begin_leaves_nothing(runs: Runs, example: Any) -> None:
    async with RunManager(example.InMemory(), "inline") as manager:
        with WorkspaceLock(runs.project, manager.state, "another"):
            run = await manager.submit(request(runs))
            with pytest.raises(WorkspaceLockedError):
                await run.result()
        assert await manager.list() == []
        assert not run.folder.exists()
