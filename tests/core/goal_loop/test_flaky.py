"""A check that passes and fails on the same tree is told from one that holds, and from one that
passes only in place."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrai_core.contracts.goal import CheckReport, GoalResult
from retrai_core.verification.flakiness import Flaky, Verdicts, differ

Runs = Any


def put(text: str) -> dict[str, Any]:
    """One turn that writes a.txt."""
    return {"calls": [{"name": "put", "args": {"path": "a.txt", "text": text}}]}


MEND = put("right\n")


def final_checks(runs: Runs, record: Any) -> list[bool]:
    """What the checks on clean copies said."""
    checks = [event.payload for event in runs.events(record, "goal_check")]
    return [check["achieved"] for check in checks if check["phase"] == "final"]


async def test_a_copy_that_fails_once_and_passes_the_next_time_is_flaky(runs: Runs) -> None:
    # The baseline is check 1, the one in place 2, those on copies 3 and 4.
    record = await runs.run([MEND], options={"flaky_checks": [3]})
    assert (record.status, record.exit_code) == ("flaky", 7)
    assert final_checks(runs, record) == [False, True]
    assert record.evidence.flaky == ["b.txt"]
    assert record.reason.startswith("1 case passes and fails on the same tree")
    assert "b.txt" in record.reason
    assert "retrai run" in record.next_step


async def test_a_copy_that_fails_twice_holds_only_in_place(runs: Runs) -> None:
    record = await runs.run([MEND], options={"flaky_checks": [3, 4]}, max_iterations=1)
    assert record.status == "failed"
    assert "it passes in place but not on a clean copy" in record.reason


@pytest.mark.parametrize(("confirm", "status"), [(1, "achieved"), (2, "flaky"), (3, "flaky")])
async def test_more_confirmation_finds_a_rarer_failure(
    runs: Runs, confirm: int, status: str
) -> None:
    record = await runs.run([MEND], options={"flaky_checks": [4]}, confirm=confirm)
    assert record.status == status


async def test_a_steady_check_is_confirmed_as_often_as_was_asked_for(runs: Runs) -> None:
    record = await runs.run([MEND], confirm=3)
    assert record.status == "achieved"
    assert final_checks(runs, record) == [True] * 3
    # Each on a copy of its own: what one check leaves must not help the next.
    copies = [check for check in runs.checks(record) if check != str(runs.project)]
    assert len(set(copies)) == len(copies) >= 3


async def test_a_project_that_passes_at_the_start_is_confirmed_too(runs: Runs) -> None:
    (runs.project / "a.txt").write_text("right\n")
    record = await runs.run([MEND], confirm=3)
    assert (record.status, record.iterations) == ("achieved", 0)
    assert final_checks(runs, record) == [True] * 3
    assert record.reason == "all files are right; nothing had to be done"

    record = await runs.run([MEND], confirm=3, options={"flaky_checks": [4]})
    assert (record.status, record.exit_code, record.iterations) == ("flaky", 7, 0)
    assert record.evidence.flaky == ["b.txt"]
    assert record.evidence.after.counts == {"failed": 1, "passed": 1}


async def test_a_tree_that_comes_back_with_another_verdict_is_flaky(runs: Runs) -> None:
    # In the second check b.txt fails for no reason; then the same tree comes back and passes.
    turns = [MEND, put("wrong again\n"), MEND]
    record = await runs.run(turns, options={"flaky_checks": [2]})
    assert (record.status, record.iterations) == ("flaky", 3)
    assert "in an earlier check of this run" in record.reason
    assert record.evidence.flaky == ["b.txt"]


async def test_copies_that_failed_and_pass_when_the_tree_comes_back_are_flaky(runs: Runs) -> None:
    # The first two copies of the right tree fail; the same tree comes back, and all checks pass.
    turns = [MEND, put("wrong again\n"), MEND]
    record = await runs.run(turns, options={"flaky_checks": [3, 4]})
    assert (record.status, record.iterations) == ("flaky", 3)
    assert "in an earlier check of this run" in record.reason


async def test_a_resumed_run_remembers_what_was_said_of_a_tree(runs: Runs) -> None:
    options = {"flaky_checks": [2]}
    record = await runs.run([MEND], options=options, max_iterations=1)
    assert record.status == "failed"
    ended = await runs.resume(record.id, max_iterations=4)
    assert ended.status == "flaky"


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    failing=st.sets(st.integers(1, 9), max_size=4),
    texts=st.lists(st.sampled_from(["right\n", "one\n", "two\n"]), min_size=1, max_size=4),
    confirm=st.integers(1, 3),
)
async def test_different_outcomes_on_one_tree_never_end_achieved(
    runs: Runs, failing: set[int], texts: list[str], confirm: int
) -> None:
    (runs.project / "a.txt").write_text("wrong\n")
    options = {"flaky_checks": sorted(failing)}
    turns = [put(text) for text in texts]
    record = await runs.run(turns, options=options, confirm=confirm, max_iterations=len(turns))
    # What each tree was, told from what the turns wrote: the baseline's is "wrong".
    texts_by_iteration = {0: "wrong\n"} | dict(enumerate(texts, 1))
    said: dict[str, set[bool]] = defaultdict(set)
    for event in runs.events(record, "goal_check"):
        if event.payload["phase"] == "baseline":
            said["wrong\n"].add(event.payload["achieved"])
        elif not event.payload["remembered"]:
            said[texts_by_iteration[event.iteration + 1]].add(event.payload["achieved"])
    if any(len(outcomes) == 2 for outcomes in said.values()):
        # The tree that was judged last is the one that counts.
        last = said[texts_by_iteration[record.iterations]]
        assert record.status != "achieved" or len(last) == 1
    if record.status == "achieved":
        assert final_checks(runs, record)[-confirm:] == [True] * confirm


def result(achieved: bool, **cases: str) -> GoalResult:
    """An answer with these cases."""
    return GoalResult(achieved, "so", report=CheckReport(cases, command=[]))  # type: ignore[arg-type] # outcomes as plain text


@pytest.mark.parametrize(
    ("first", "second", "cases"),
    [
        (result(True, a="passed"), result(True, a="passed"), None),
        (result(True, a="passed"), result(True, a="skipped"), None),
        (result(False, a="failed"), result(False, a="failed"), None),
        (result(True, a="passed"), result(False, a="failed"), ["a"]),
        (result(False, a="error", b="passed"), result(False, a="passed", b="failed"), ["a", "b"]),
        (result(True), result(False), []),
        (GoalResult(True, "so"), GoalResult(False, "so"), []),
    ],
)
def test_what_counts_as_flaky(
    first: GoalResult, second: GoalResult, cases: list[str] | None
) -> None:
    found = differ(first, second, "twice")
    assert (found.cases if found else None) == cases


def test_the_reason_names_at_most_ten_cases() -> None:
    reason = Flaky([f"case{n}" for n in range(30)], "twice").reason
    assert reason.startswith("30 cases pass and fail on the same tree (twice): case0")
    assert "case9" in reason
    assert "case10" not in reason


def test_a_half_written_line_costs_no_other_verdict(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    Verdicts(path).note("tree", result(False, a="failed"))
    with path.open("a") as file:
        file.write('{"tree": "oth')
    known = Verdicts(path)
    assert known.against("tree", result(True, a="passed")) is not None
    assert known.against("tree", result(False, a="failed")) is None
    assert known.against("other", result(True)) is None
