"""What is learnt in one project, and what a run in another is told."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from retrai_core import AgentEvent, RetraiError, RunOutcome
from retrai_memory_sqlite.store import SqliteMemory

Stores = Callable[..., SqliteMemory]


def ended(
    project: Path, outcome: str = "achieved", failure: str = "2 of 9 tests fail", file: str = "a.py"
) -> RunOutcome:
    return RunOutcome(
        "pytest", project, outcome, failure, [file], ["file_patch"], "Sign was wrong."
    )


async def test_what_worked_in_one_project_is_told_in_another(
    tmp_path: Path, state: Path, new_store: Stores
) -> None:
    await new_store("shop").learn(ended(tmp_path / "shop"))
    (told,) = await new_store("bank").recall("pytest", tmp_path / "bank")
    assert told.pattern == (
        "When the check said `2 of 9 tests fail` in the project shop: a change to a.py made the "
        "check pass (tools: file_patch). Sign was wrong."
    )
    assert await new_store().recall("pyright", tmp_path / "shop") == []
    assert [path.name for path in tmp_path.joinpath("shop").iterdir()] == []
    assert stat.S_IMODE((state / "memory.sqlite3").stat().st_mode) == 0o600


async def test_the_likest_failure_comes_first_and_before_what_only_worked_more_often(
    tmp_path: Path, new_store: Stores
) -> None:
    elsewhere = tmp_path / "elsewhere"
    for _ in range(3):
        failure = "1 test fails (test_cart: KeyError: 'discount')"
        await new_store().learn(ended(elsewhere, failure=failure, file="cart.py"))
    failure = "4 tests fail (test_dates: ValueError: timezone offset missing)"
    await new_store().learn(ended(elsewhere, failure=failure, file="dates.py"))
    now = "7 tests fail (test_calendar: ValueError: offset of the timezone)"
    told = await new_store(failure=now).recall("pytest", tmp_path / "shop")
    assert ["dates.py" in one.pattern for one in told] == [True, False]
    # With nothing to compare, what worked more often comes first.
    told = await new_store().recall("pytest", tmp_path / "shop")
    assert ["cart.py" in one.pattern for one in told] == [True, False]


async def test_the_own_project_counts_more(tmp_path: Path, new_store: Stores) -> None:
    for name in ("other", "shop"):
        await new_store().learn(ended(tmp_path / name, file=f"{name}.py"))
    told = await new_store().recall("pytest", tmp_path / "shop")
    assert "shop.py" in told[0].pattern
    assert told[0].confidence > told[1].confidence


async def test_words_of_the_query_language_are_only_words(
    tmp_path: Path, new_store: Stores
) -> None:
    await new_store().learn(ended(tmp_path / "shop", failure='NEAR AND "OR" NOT ( * : fails'))
    failure = 'NOT (AND OR NEAR) "fails" col: * ^'
    assert len(await new_store(failure=failure).recall("pytest", tmp_path / "shop")) == 1


async def test_a_failed_run_takes_trust_away_from_what_it_was_told(
    tmp_path: Path, new_store: Stores
) -> None:
    shop = tmp_path / "shop"
    await new_store().learn(ended(shop))
    (before,) = await new_store().entries(shop)
    failing = new_store()
    await failing.recall("pytest", shop)
    await failing.learn(ended(shop, "failed"))
    aborted = new_store()
    await aborted.recall("pytest", shop)
    await aborted.learn(ended(shop, "aborted"))
    (after,) = await new_store().entries(shop)
    assert (before.confidence, after.confidence) == (0.5, pytest.approx(1 / 3, abs=1e-3))


async def test_counts_in_the_failure_make_no_new_strategy(
    tmp_path: Path, new_store: Stores
) -> None:
    shop = tmp_path / "shop"
    for failure in ("2 of 9 tests fail", "5 of 9 tests fail"):
        await new_store().learn(ended(shop, failure=failure))
    (entry,) = await new_store().entries(shop)
    assert entry.success_count == 2


async def test_the_least_trusted_go_first_and_the_newest_stays(
    tmp_path: Path, new_store: Stores
) -> None:
    shop = tmp_path / "shop"
    for file in ("twice.py", "twice.py", "once.py", "newest.py"):
        await new_store(max_entries=2).learn(ended(shop, file=file))
    left = [entry.pattern for entry in await new_store().entries(shop)]
    assert [name for name in ("twice", "once", "newest") if any(name in one for one in left)] == [
        "twice",
        "newest",
    ]


async def test_a_forgotten_entry_is_not_found_by_its_words_either(
    tmp_path: Path, new_store: Stores
) -> None:
    shop = tmp_path / "shop"
    await new_store().learn(ended(shop, failure="a peculiar failure"))
    (entry,) = await new_store().entries(shop)
    assert await new_store().forget(shop, [entry.id, "unknown"]) == 1
    await new_store().learn(ended(shop, failure="another one"))
    told = await new_store(failure="a peculiar failure").recall("pytest", shop)
    assert ["another" in one.pattern for one in told] == [True]


async def test_a_broken_file_is_set_aside_with_a_warning(
    tmp_path: Path, state: Path, new_store: Stores, events: list[AgentEvent]
) -> None:
    state.mkdir()
    (state / "memory.sqlite3").write_bytes(b"no database at all" * 100)
    assert await new_store().recall("pytest", tmp_path / "shop") == []
    (aside,) = state.glob("memory.sqlite3.corrupt-*")
    assert aside.read_bytes().startswith(b"no database")
    (warning,) = [event.payload["message"] for event in events]
    assert aside.name in warning
    await new_store().learn(ended(tmp_path / "shop"))
    assert len(await new_store().recall("pytest", tmp_path / "shop")) == 1


async def test_a_file_of_a_newer_version_is_left_alone(
    tmp_path: Path, state: Path, new_store: Stores, events: list[AgentEvent]
) -> None:
    state.mkdir()
    path = state / "memory.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=2")
    connection.close()
    await new_store().learn(ended(tmp_path / "shop"))
    assert await new_store().recall("pytest", tmp_path / "shop") == []
    assert all("newer than 1" in event.payload["message"] for event in events)
    with pytest.raises(RetraiError, match="newer than 1"):
        await new_store().entries(tmp_path / "shop")


async def test_a_state_folder_that_cannot_be_made_is_only_a_warning(
    tmp_path: Path, state: Path, new_store: Stores, events: list[AgentEvent]
) -> None:
    state.write_text("a file in the folder's place")
    await new_store().learn(ended(tmp_path / "shop"))
    assert "memory.sqlite3" in events[0].payload["message"]
