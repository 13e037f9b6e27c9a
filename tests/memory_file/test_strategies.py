"""What a run leaves, and what the next one is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrai_core import AgentEvent, RunOutcome
from retrai_memory_file.document import Entry
from retrai_memory_file.pattern import failure_kind
from retrai_memory_file.store import FileMemory

NewStore = Callable[..., FileMemory]


def outcome(
    project: Path,
    ending: str = "achieved",
    failure: str = "2 of 20 tests fail",
    files: tuple[str, ...] = ("src/cart.py",),
    notes: str = "",
) -> RunOutcome:
    tools = ("run_pytest", "file_patch")
    return RunOutcome("pytest", project, ending, failure, files, tools, notes)


async def test_a_new_project_has_nothing_to_recall_and_gets_no_file(
    new_store: NewStore, project: Path
) -> None:
    assert list(await new_store().recall("pytest", project)) == []
    assert list(project.iterdir()) == []


async def test_the_next_run_is_told_what_worked(new_store: NewStore, project: Path) -> None:
    await new_store().learn(outcome(project, notes="The tax was added\ntwice.\x1b[0m"))
    (strategy,) = await new_store().recall("pytest", project)
    assert "some tests fail" in strategy.pattern
    assert "src/cart.py" in strategy.pattern
    assert "file_patch" in strategy.pattern
    assert "The tax was added twice." in strategy.pattern
    assert "\n" not in strategy.pattern
    assert "\x1b" not in strategy.pattern
    assert (strategy.success_count, strategy.confidence) == (1, 0.5)


async def test_the_same_strategy_is_counted_not_repeated(
    new_store: NewStore, project: Path
) -> None:
    await new_store().learn(outcome(project, failure="2 of 20 tests fail"))
    await new_store().learn(outcome(project, failure="7  of 31 tests fail."))
    await new_store().learn(outcome(project, files=("src/tax.py",)))
    told = await new_store().recall("pytest", project)
    assert [strategy.success_count for strategy in told] == [2, 1]
    stored = json.loads((project / ".retrai" / "memory.json").read_text(encoding="utf-8"))
    assert stored["version"] == 1
    assert [entry["success_count"] for entry in stored["strategies"]] == [2, 1]


async def test_another_goals_strategies_are_not_told(new_store: NewStore, project: Path) -> None:
    await new_store().learn(outcome(project))
    assert list(await new_store().recall("pyright", project)) == []


async def test_a_run_that_changed_nothing_teaches_nothing(
    new_store: NewStore, project: Path
) -> None:
    await new_store().learn(outcome(project, files=()))
    assert not (project / ".retrai").exists()


@pytest.mark.parametrize("ending", ["failed", "stuck", "budget", "tampered"])
async def test_a_strategy_that_was_told_and_did_not_help_is_trusted_less(
    new_store: NewStore, project: Path, ending: str
) -> None:
    await new_store().learn(outcome(project))
    await new_store().learn(outcome(project))
    run = new_store()
    (before,) = await run.recall("pytest", project)
    await run.learn(outcome(project, ending))
    (after,) = await new_store().recall("pytest", project)
    assert after.confidence < before.confidence
    assert after.success_count == before.success_count
    # Once it has failed as often as it worked, it is told to nobody; it is listed all the same.
    await run.learn(outcome(project, ending))
    assert list(await new_store().recall("pytest", project)) == []
    assert len(await new_store().entries(project)) == 1


@pytest.mark.parametrize("ending", ["aborted", "interrupted", "error", "flaky"])
async def test_a_run_that_had_no_chance_says_nothing_about_strategies(
    new_store: NewStore, project: Path, ending: str
) -> None:
    await new_store().learn(outcome(project))
    run = new_store()
    before = await run.recall("pytest", project)
    await run.learn(outcome(project, ending))
    assert await new_store().recall("pytest", project) == before


async def test_the_most_trusted_come_first_and_only_so_many(
    new_store: NewStore, project: Path
) -> None:
    for name, times in (("a", 1), ("b", 3), ("c", 2)):
        for _ in range(times):
            await new_store().learn(outcome(project, files=(f"{name}.py",)))
    told = await new_store(max_recalled=2).recall("pytest", project)
    assert [strategy.success_count for strategy in told] == [3, 2]
    assert [strategy.confidence for strategy in told] == [3 / 4, 2 / 3]


async def test_the_file_keeps_the_most_trusted_and_the_newest(
    new_store: NewStore, project: Path
) -> None:
    for name in ("good", "good", "weak", "new"):
        await new_store(max_entries=2).learn(outcome(project, files=(f"{name}.py",)))
    told = await new_store().recall("pytest", project)
    assert ["good.py" in told[0].pattern, "new.py" in told[1].pattern, len(told)] == [True, True, 2]


async def test_what_a_person_wrote_into_an_entry_stays(new_store: NewStore, project: Path) -> None:
    await new_store().learn(outcome(project))
    path = project / ".retrai" / "memory.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    stored["strategies"][0]["owner"] = "ann"
    path.write_text(json.dumps(stored), encoding="utf-8")
    await new_store().learn(outcome(project, files=("other.py",)))
    assert json.loads(path.read_text(encoding="utf-8"))["strategies"][0]["owner"] == "ann"


async def test_a_long_or_many_lined_entry_is_told_as_one_short_line(
    new_store: NewStore, project: Path
) -> None:
    folder = project / ".retrai"
    folder.mkdir()
    entry = {"goal": "pytest", "pattern": "line\n" * 5000}
    text = json.dumps({"version": 1, "strategies": [entry]})
    (folder / "memory.json").write_text(text, encoding="utf-8")
    (strategy,) = await new_store().recall("pytest", project)
    assert "\n" not in strategy.pattern
    assert len(strategy.pattern) <= 600


async def test_memory_is_no_change_of_the_project(
    new_store: NewStore, project: Path, events: list[AgentEvent]
) -> None:
    from retrai_core.workspace.safe_paths import SafeWorkspace
    from retrai_core.workspace.tree_hash import TreeHasher

    (project / "a.py").write_text("a = 1\n", encoding="utf-8")
    before = TreeHasher(project).state().digest
    await new_store().learn(outcome(project))
    assert TreeHasher(project).state().digest == before
    assert [entry.path for entry in SafeWorkspace(project).walk()] == ["a.py"]
    assert events == []


@given(successes=st.integers(0, 1000), failures=st.integers(0, 1000))
def test_confidence_rises_with_successes_and_falls_with_failures(
    successes: int, failures: int
) -> None:
    def confidence(good: int, bad: int) -> float:
        return Entry(goal="g", pattern="p", success_count=good, failure_count=bad).confidence

    here = confidence(successes, failures)
    assert 0 <= here < 1
    assert confidence(successes + 1, failures) > here
    assert confidence(successes, failures + 1) <= here


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2 of 20 tests fail", "11 of 21 tests fail"),
        ("2 of 20 tests fail", "1 of 20 tests fails"),
        ("1 of 1 test fails", "3 of 4 tests fail"),
        ("3 tests fail", "1 test fails"),
        ("SyntaxError at line 12", "SyntaxError at line 7"),
        ("timed out after 120 s", "timed out after 60 s"),
    ],
)
def test_counts_do_not_make_another_kind_of_failure(one: str, other: str) -> None:
    assert failure_kind(one) == failure_kind(other)


async def test_sources_are_named_before_scratch_files(new_store: NewStore, project: Path) -> None:
    files = ("a.py", "b.py", "c.py", "d.py", "src/shop.egg-info/SOURCES.txt", "src/shop/cart.py")
    await new_store().learn(outcome(project, files=files))
    (strategy,) = await new_store().recall("pytest", project)
    assert "a change to src/shop/cart.py, a.py, b.py, c.py and others made" in strategy.pattern


def test_names_do() -> None:
    assert failure_kind("tests/test_1.py fails") != failure_kind("tests/test_2.py fails")


async def test_an_entry_that_is_forgotten_is_gone_and_the_others_stay(
    new_store: NewStore, project: Path
) -> None:
    await new_store().learn(outcome(project))
    await new_store().learn(outcome(project, files=("src/tax.py",)))
    first, second = await new_store().entries(project)
    assert await new_store().forget(project, [first.id, "unknown"]) == 1
    assert [entry.id for entry in await new_store().entries(project)] == [second.id]
