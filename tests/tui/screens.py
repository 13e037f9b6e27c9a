"""Screens as they were once looked at. `test_screens.py` runs this file in a process of its own:

PYTHONPATH=.tox/snapshots/packages pytest -o addopts= --import-mode=importlib \\
    tests/tui/screens.py --snapshot-update
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pytest_textual_snapshot import SVGImageExtension
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import DataTable, Static

from retrai_core import AgentEvent, FilesStore, Question, Run, RunManager, RunRecord
from retrai_tui.app import RetraiApp, Start
from retrai_tui.messages import Messages

SVGImageExtension.file_extension = "svg"  # as the attribute is called in the syrupy of today
Compare = Callable[..., bool]
DAY_S = 86_400
DETAILS = """FAILED tests/test_money.py::test_cents
tests/test_money.py:16 in test_cents
> 16 |     assert split_evenly(900, 3) == [300, 300, 300]
E   assert [1, 1, 1] == [300, 300, 300]
"""
DIFF = """--- a/shop/money.py
+++ b/shop/money.py
@@ -10,3 +10,3 @@
-    each, left_over = divmod(shares, amount)
+    each, left_over = divmod(amount, shares)
"""


def check(passed: int, failed: int, **more: Any) -> dict[str, Any]:
    """The payload of a check."""
    counts = {name: n for name, n in (("failed", failed), ("passed", passed)) if n}
    reason = f"{failed} of {passed + failed} tests fail" if failed else f"{passed} tests pass"
    details = DETAILS if failed else ""
    shown = {"phase": "iteration", "details": details, "duration_s": 1.0, "remembered": False}
    return {**shown, "achieved": not failed, "reason": reason, "counts": counts, **more}


def usage(text: str, **call: Any) -> dict[str, Any]:
    """The payload of a model call."""
    return {
        "model": "claude-sonnet-4-6",
        "text": text,
        "tool_calls": [call],
        "total_tokens": 1234,
        "duration_s": 2.5,
    }


PATCH = {"id": "c1", "tool": "file_patch", "args": {"path": "shop/money.py"}}
EVENTS: list[tuple[str, int, dict[str, Any]]] = [
    ("log", 0, {"level": "info", "message": "goal pytest, found by tests/test_money.py"}),
    ("goal_check", 0, check(33, 10, phase="baseline")),
    ("step_start", 0, {"node": "plan", "iteration": 0}),
    ("llm_usage", 0, usage("The arguments of divmod are exchanged.", name="file_patch", args={})),
    ("tool_call", 0, {**PATCH, "summary": "shop/money.py"}),
    (
        "tool_result",
        0,
        {
            **PATCH,
            "content": "patched shop/money.py at line 13: 1 out, 1 in",
            "error": False,
            "duration_s": 0.1,
            "changes": [{"path": "shop/money.py", "diff": DIFF}],
        },
    ),
    ("goal_check", 0, check(40, 3)),
    ("iteration_complete", 1, {"iteration": 1, "total_tokens": 1234, "cost_usd": 0.0123}),
]


class Kept:
    """A store with runs of which everything is known."""

    def __init__(self, state: Path) -> None:
        self.store = FilesStore(state=state)

    def add(self, run_id: str, status: str, **more: Any) -> RunRecord:
        """A run that began three days ago."""
        began = time.time() - 3 * DAY_S - 60
        values: Mapping[str, Any] = {
            "id": run_id,
            "status": status,
            "created_at": began + int(run_id, 16) % 10,
            "started_at": began,
            "worked_s": 83.0,
            "goals": [{"name": "pytest"}],
            "model": "claude-sonnet-4-6",
            "project": Path("/home/me/shop"),
            "iterations": 1,
            "limits": {"max_iterations": 20},
            **more,
        }
        record = RunRecord.model_validate(values)
        asyncio.run(self._write(record))
        return record

    async def _write(self, record: RunRecord) -> None:
        await self.store.create(record)
        claim = await self.store.claim(record.id, "a test")
        assert claim is not None
        ended = [("run_end", 0, {"status": record.status, "reason": record.reason})]
        asked: list[tuple[str, int, dict[str, Any]]] = []
        if record.status == "waiting":
            question = Question(
                id="human_check.1", run_id=record.id, kind="iteration", text="Go on?", asked_at=1.0
            )
            asked = [("human_check_required", 1, {"question": question.model_dump(mode="json")})]
        events = [
            AgentEvent(kind, record.id, iteration, payload, 1.0, seq)  # pyright: ignore[reportArgumentType]
            for seq, (kind, iteration, payload) in enumerate([*EVENTS, *(asked or ended)], 1)
        ]
        await self.store.append_events(claim, events)
        await self.store.save(claim, record)
        await self.store.release(claim)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    """The store."""
    monkeypatch.setenv("RETRAI_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".retrai.yml").write_text("goal: pytest\n")
    return Kept(tmp_path / "state")


def app(kept: Kept, tmp_path: Path, run: str = "") -> App[None]:
    """The application on that store."""
    manager = RunManager(kept.store, "process")
    start = Start(run=Run(manager, run) if run else None)
    return RetraiApp(manager, tmp_path / "project", Messages(), start)


async def settle(pilot: Pilot[None]) -> None:
    """Until the run is shown to its end."""
    while "failed" not in str(pilot.app.screen.query_one("#state", Static).content):
        await pilot.pause(0.05)
    await pilot.pause(0.2)


def test_the_list_of_runs(snap_compare: Compare, kept: Kept, tmp_path: Path) -> None:
    kept.add("a1", "achieved", reason="43 tests pass")
    kept.add("a2", "failed", reason="the iterations are used up")
    kept.add("a3", "interrupted", reason="stopped before it was done", agent="research", goals=[])

    async def shown(pilot: Pilot[None]) -> None:
        while pilot.app.screen.query_one("#runs", DataTable).row_count < 3:
            await pilot.pause(0.05)
        await pilot.press("down")

    assert snap_compare(app(kept, tmp_path), run_before=shown)


def test_a_run_and_one_of_its_steps(snap_compare: Compare, kept: Kept, tmp_path: Path) -> None:
    kept.add("b1", "failed", reason="the iterations are used up")

    async def step(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await pilot.press("up", "up")

    assert snap_compare(app(kept, tmp_path, "b1"), run_before=step)


def test_failing_cases_on_a_wide_screen(snap_compare: Compare, kept: Kept, tmp_path: Path) -> None:
    kept.add("b1", "failed", reason="the iterations are used up")

    async def failing(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await pilot.press("f")

    assert snap_compare(app(kept, tmp_path, "b1"), run_before=failing, terminal_size=(120, 30))
