"""Turns that only read cost a glance at the tree; whatever else happens is looked at afresh."""

from __future__ import annotations

from pathlib import Path
from typing import Any

Runs = Any
"""The fixture's class, in conftest.py."""


def call(name: str, **args: Any) -> dict[str, Any]:
    """One turn that calls one tool."""
    return {"text": f"calling {name}", "calls": [{"name": name, "args": args}]}


TOOLS = ["look", "shell", "meddle"]
READ = [call("look", path=name) for name in ("a.txt", "b.txt", "expected.txt", "x", "y", "z")]


def looks(folder: Path) -> int:
    """How often the goal was asked for what lies outside the tree."""
    return len((folder / "outside").read_text().split())


async def test_turns_that_only_read_look_at_little_beside_the_tree(runs: Runs) -> None:
    record = await runs.run(READ, max_iterations=len(READ))
    assert record.checks_remembered == len(READ)
    # After the baseline, and at the first evaluation.
    assert looks(runs.store.folder(record.id)) == 2


async def test_a_call_that_may_write_is_followed_by_a_look_at_everything(runs: Runs) -> None:
    turns = [READ[0], call("shell", line="true"), READ[1], call("shell", line="exit 1")]
    record = await runs.run(turns, max_iterations=4)
    assert record.checks_remembered == 4
    assert looks(runs.store.folder(record.id)) == 4


async def test_what_someone_else_mends_meanwhile_is_noticed_at_once(runs: Runs) -> None:
    turns = [READ[0], READ[1], call("meddle", path="a.txt", text="right\n")]
    record = await runs.run(turns, tools=TOOLS)
    assert (record.status, record.iterations) == ("achieved", 3)


async def test_a_check_that_someone_else_changes_meanwhile_is_put_back_at_once(runs: Runs) -> None:
    turns = [READ[0], call("meddle", path="expected.txt", text=""), READ[1]]
    record = await runs.run(turns, tools=TOOLS, max_iterations=3)
    assert record.status == "failed"
    assert len(record.refused) == 1
    assert "a.txt: right" in (runs.project / "expected.txt").read_text()
