"""`perf-check`: repeats of a real command, their median, and the output that must stay."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from retrai_goals_shell.perf.goal import PerfCheckGoal, with_spread
from retrai_goals_shell.perf.kept_output import changed_files

from ..goal_bench import Bench

# No command of these tests is fast or slow by its own doing: the limits are far from both.
FAST, SLOW = 300, 0.0001
LATER = {"iteration": 1}


def options(**given: Any) -> dict[str, Any]:
    return {"command": "cat out.txt", "max_seconds": FAST, "runs": 2, "repeats": 2, **given}


@pytest.fixture
def printing(bench: Bench) -> Bench:
    bench.write({"out.txt": "one\ntwo\n"})
    return bench


async def test_a_command_below_its_limit_is_achieved_and_its_spread_is_said(
    printing: Bench,
) -> None:
    result = await printing.build(PerfCheckGoal, **options()).check({}, printing.project)
    assert result.achieved, result.reason
    assert dict(result.report.cases) == {"time": "passed", "output": "passed"}
    assert "of 2 (" in result.reason
    assert "the limit is 300 s" in result.reason


async def test_a_command_above_its_limit_is_not_repeated_to_the_end(printing: Bench) -> None:
    goal = printing.build(PerfCheckGoal, **options(max_seconds=SLOW, runs=100, repeats=1))
    result = await goal.check({}, printing.project)
    assert not result.achieved
    assert result.report.cases["time"] == "failed"
    assert result.details.count("- median") == 1


async def test_another_output_is_no_success_however_fast(printing: Bench) -> None:
    goal = printing.build(PerfCheckGoal, **options())
    await goal.check({}, printing.project)
    printing.write({"out.txt": "one\n"})
    result = await goal.check(LATER, printing.project)
    assert not result.achieved
    assert result.report.cases == {"time": "passed", "output": "failed"}
    assert "It was:\none\ntwo" in result.details
    # A new instance, as after a resume, still knows what it was.
    again = await printing.build(PerfCheckGoal, **options()).check(LATER, printing.project)
    assert not again.achieved


async def test_what_is_ignored_may_differ(printing: Bench) -> None:
    given = options(command="cat out.txt; echo took $RANDOM$RANDOM", ignore_output=r"^took \d+$")
    result = await printing.build(PerfCheckGoal, **given).check({}, printing.project)
    assert result.achieved, result.reason


async def test_an_output_that_is_never_the_same_cannot_be_compared(printing: Bench) -> None:
    given = options(command="date +%N; echo $RANDOM$RANDOM$RANDOM")
    goal = printing.build(PerfCheckGoal, **given)
    assert await goal.impossible() is None
    result = await goal.check({}, printing.project)
    assert "ignore_output" in (await goal.impossible() or "")
    assert not result.achieved
    assert not result.report.complete
    assert "ignore_output" in result.reason
    free = printing.build(PerfCheckGoal, **{**given, "compare_output": False})
    assert (await free.check({}, printing.project)).achieved
    assert await free.impossible() is None


async def test_files_that_it_writes_can_be_compared(bench: Bench) -> None:
    bench.write({"in.txt": "a"})
    given = options(command="cp in.txt result.bin", output_files="result.bin")
    goal = bench.build(PerfCheckGoal, **given)
    assert (await goal.check({}, bench.project)).achieved
    bench.write({"in.txt": "b"})
    result = await goal.check(LATER, bench.project)
    assert not result.achieved
    assert "result.bin differs" in result.details


async def test_a_result_that_is_kept_in_the_project_is_no_speed(printing: Bench) -> None:
    printing.write({"run.sh": "cat out.txt\n"})
    goal = printing.build(PerfCheckGoal, **options(command="bash run.sh"))
    assert (await goal.check({}, printing.project)).achieved
    printing.write({"run.sh": "[ -e kept ] || cat out.txt >kept\ncat kept\n"})
    result = await goal.check(LATER, printing.project)
    assert not result.achieved
    assert "kept" in result.reason


async def test_a_result_that_stood_there_at_the_start_is_none_later(
    bench: Bench, tmp_path: Path
) -> None:
    bench.write({"in.txt": "one\n", "state.txt": "\n", "run.sh": "tee state.txt <in.txt\n"})
    goal = bench.build(PerfCheckGoal, **options(command="bash run.sh"))
    assert (await goal.check({}, bench.project)).achieved
    bench.write({"run.sh": "grep . state.txt && exit\necho slow\n", "state.txt": "one\n"})
    assert (await goal.check(LATER, bench.project)).achieved
    copy = tmp_path / "copy" / bench.project.name
    shutil.copytree(bench.project, copy)
    result = await goal.check(LATER, copy)
    assert not result.achieved
    assert "the output is not what it was at the start" in result.reason


async def test_a_state_of_another_form_is_taken_as_it_is(bench: Bench, tmp_path: Path) -> None:
    bench.write({"state.txt": "1\n", "run.sh": "echo 2 >state.txt\necho done\n"})
    goal = bench.build(PerfCheckGoal, **options(command="bash run.sh"))
    assert (await goal.check({}, bench.project)).achieved
    bench.write({"run.sh": "grep -q runs state.txt && echo done\n", "state.txt": "runs 2\n"})
    copy = tmp_path / "copy" / bench.project.name
    shutil.copytree(bench.project, copy)
    result = await goal.check(LATER, copy)
    assert result.achieved, result.reason


@pytest.mark.parametrize("path", [".", "jobs"])
@pytest.mark.parametrize("is_right", [False, True])
async def test_a_job_is_tried_with_the_data_that_the_run_made_less(
    bench: Bench, tmp_path: Path, path: str, *, is_right: bool
) -> None:
    names = "names.txt" if path == "." else "../names.txt"
    bench.write({"names.txt": "ada\n" * 60 + "grace\n" * 60})
    bench.write({f"{path}/run.sh": f"sort -u {names}\n"})
    goal = bench.build(PerfCheckGoal, **options(command="bash run.sh", path=path))
    assert (await goal.check({}, bench.project)).achieved
    bench.write({"names.txt": "ada\ngrace\n"})
    if not is_right:
        bench.write({f"{path}/run.sh": f"cat {names}\n"})
    copy = tmp_path / "copy" / bench.project.name
    shutil.copytree(bench.project, copy)
    result = await goal.check(LATER, copy)
    assert result.achieved is is_right, result.reason
    assert is_right or "for names.txt as it was it does not print" in result.reason


async def test_every_repeat_has_fresh_folders_for_what_programs_keep(printing: Bench) -> None:
    line = 'for d in "$TMPDIR" "$XDG_CACHE_HOME"; do mkdir -p "$d"; ls "$d"; touch "$d/kept"; done'
    result = await printing.build(PerfCheckGoal, **options(command=line)).check(
        {}, printing.project
    )
    # What one repeat left there, the next would have listed, and the outputs would differ.
    assert result.achieved, result.reason


@pytest.mark.parametrize(
    ("command", "reason"),
    [("exit 3", "exit status 3"), ("kill -9 $$", "signal 9"), ("sleep 60", "still running")],
)
async def test_a_command_that_fails_is_no_complete_run(
    bench: Bench, command: str, reason: str
) -> None:
    timeout_s = 0.5 if "sleep" in command else 60
    goal = bench.build(PerfCheckGoal, **options(command=command, timeout_s=timeout_s))
    result = await goal.check({}, bench.project)
    assert not result.report.complete
    assert reason in result.reason


async def test_without_an_output_at_the_start_nothing_can_be_compared(bench: Bench) -> None:
    goal = bench.build(PerfCheckGoal, **options(command="cat later.txt"))
    await goal.check({}, bench.project)
    assert "failed with exit status 1 at the start" in (await goal.impossible() or "")
    bench.write({"later.txt": "anything"})
    result = await goal.check(LATER, bench.project)
    assert not result.achieved
    assert "no output to compare with" in result.reason


@pytest.mark.parametrize(
    "wrong",
    [{"max_seconds": 0}, {"runs": 0}, {"repeats": 0}, {"warmup": -1}, {"ignore_output": "("}],
)
def test_an_option_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PerfCheckGoal.Options(**options(**wrong))


def test_one_noisy_repeat_does_not_move_the_figure() -> None:
    assert with_spread([0.1, 9.0, 0.1]).startswith("median 0.100 s of 3")
    assert with_spread([0.5]) == "median 0.500 s"


def test_what_a_build_leaves_is_not_held_against_it() -> None:
    after = {
        "build/fast.o": (1, 1),
        "fast.o": (1, 1),
        "a/__init__.pyc": (1, 1),
        "kept.json": (1, 1),
    }
    assert changed_files({}, after) == ["kept.json"]
