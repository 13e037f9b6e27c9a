"""A check that was ended from outside says nothing of the tree: no later answer contradicts it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from retrai_core import ProcessOptions, RunContext
from retrai_core.contracts.goal import CheckReport, GoalResult
from retrai_core.contracts.sandbox import Completed, View
from retrai_core.verification.guarded_sandbox import CheckCommands, guarded_sandbox
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_sandbox_local.sandbox import LocalSandbox

Runs = Any
MEND = {"calls": [{"name": "put", "args": {"path": "a.txt", "text": "right\n"}}]}
LOOK = {"calls": [{"name": "look", "args": {"path": "a.txt"}}]}


def phases(runs: Runs, record: Any) -> list[tuple[str, bool, bool]]:
    """Each check that was told of: its phase, its answer, and whether it was remembered."""
    told = [event.payload for event in runs.events(record, "goal_check")]
    return [(check["phase"], check["achieved"], check["remembered"]) for check in told]


async def test_a_check_that_is_killed_once_is_run_again_at_once(runs: Runs) -> None:
    # The baseline is check 1, and the one in place 2, then 3 in its stead.
    record = await runs.run([MEND], options={"killed_checks": [2]})
    assert (record.status, record.iterations) == ("achieved", 1)
    logs = [event.payload["message"] for event in runs.events(record, "log")]
    assert any(
        "did not end by itself and is run once more: the runner ended with -9" in log
        for log in logs
    )


async def test_a_killed_check_is_no_verdict_on_its_tree(runs: Runs) -> None:
    record = await runs.run([MEND, LOOK], options={"killed_checks": [2, 3]})
    assert (record.status, record.iterations) == ("achieved", 2)
    # Nothing had changed in the second turn, and yet the check was asked for again.
    assert phases(runs, record)[1:3] == [("iteration", False, False), ("iteration", True, False)]


async def test_a_resumed_run_takes_no_killed_check_for_a_verdict(runs: Runs) -> None:
    options = {"killed_checks": [2, 3]}
    record = await runs.run([MEND], options=options, max_iterations=1)
    assert record.status == "failed"
    assert "says nothing of the tree" in runs.events(record, "goal_check")[-1].payload["details"]
    ended = await runs.resume(record.id, max_iterations=4)
    assert ended.status == "achieved"


async def test_a_baseline_that_was_killed_is_taken_again(runs: Runs) -> None:
    (runs.project / "a.txt").write_text("right\n")
    record = await runs.run([LOOK], options={"killed_checks": [1]})
    assert (record.status, record.iterations) == ("achieved", 0)


async def test_a_killed_check_of_a_copy_is_not_taken_for_a_failing_one(runs: Runs) -> None:
    # 2 in place; 3 and 4 on the first copy, killed both; 5 on the second.
    record = await runs.run([MEND], options={"killed_checks": [3, 4]})
    assert (record.status, record.evidence.flaky) == ("achieved", [])
    (runs.project / "a.txt").write_text("wrong\n")
    # 3 on the first copy; 4 and 5 on the second.
    again = await runs.run([MEND], options={"killed_checks": [4, 5]}, confirm=2, max_iterations=1)
    assert (again.status, again.evidence.flaky) == ("failed", [])


async def test_a_check_that_ran_out_of_time_contradicts_none_on_the_same_tree(runs: Runs) -> None:
    wrong = {"calls": [{"name": "put", "args": {"path": "a.txt", "text": "wrong again\n"}}]}
    record = await runs.run([MEND, LOOK, wrong, MEND], options={"slow_checks": [2]})
    assert (record.status, record.iterations) == ("achieved", 4)
    # To wait for it once more, with nothing changed, would only take as long again.
    assert phases(runs, record)[2] == ("iteration", False, True)


async def test_only_a_check_s_own_commands_are_recorded(tmp_path: Path) -> None:
    context = RunContext("r1", tmp_path, SafeWorkspace(tmp_path), sys.executable, tmp_path)
    sandbox = guarded_sandbox(LocalSandbox(ProcessOptions(), context))
    started, checking = asyncio.Event(), asyncio.Event()

    async def tool() -> None:
        started.set()
        await checking.wait()
        await sandbox.run("kill -9 $$", timeout_s=20)

    beside = asyncio.create_task(tool())
    await started.wait()
    with sandbox.check(View()) as commands:
        checking.set()
        await beside
        assert commands.killed == ""
        await sandbox.run("kill -15 $$", timeout_s=20)
    await sandbox.run("kill -9 $$", timeout_s=20)
    assert commands.killed == "ended by SIGTERM"
    assert sandbox.name == "local"
    await sandbox.aclose()


REPORT = CheckReport({"a": "failed"}, command=[])
PARTIAL = CheckReport({"a": "failed"}, command=[], complete=False)


@pytest.mark.parametrize(
    ("done", "report", "cut_off"),
    [
        (Completed(-9, "", ""), PARTIAL, "killed"),
        (Completed(-15, "", ""), None, "killed"),
        (Completed(137, "", "Killed"), REPORT, "killed"),
        (Completed(2, "", "make: *** [Makefile:2: test] Killed"), REPORT, "killed"),
        (Completed(2, "", "make[1]: *** [Makefile:2: all] Error 137"), REPORT, "killed"),
        (Completed(101, "", "  process didn't exit (signal: 9, SIGKILL: kill)"), None, "killed"),
        (Completed(1, "signal: killed\nFAIL\tx\t0.1s\n", ""), PARTIAL, "killed"),
        (Completed(-9, "", "", timed_out=True), PARTIAL, "timed_out"),
        (Completed(-9, "", "", timed_out=True), REPORT, ""),
        (Completed(-11, "", "Segmentation fault"), PARTIAL, ""),
        (Completed(1, "E  AssertionError: signal: killed it\n", ""), REPORT, ""),
        (Completed(2, "", "make: *** [Makefile:2: test] Error 1"), REPORT, ""),
        (Completed(0, "make: *** [Makefile:2: test] Killed", ""), REPORT, ""),
    ],
)
def test_what_counts_as_ended_from_outside(
    done: Completed, report: CheckReport | None, cut_off: str
) -> None:
    endings = CheckCommands(View())
    endings.note(done)
    assert endings.mark(GoalResult(False, "so", report=report)).cut_off == cut_off
    assert not endings.mark(GoalResult(True, "so", report=report)).cut_off
