"""Fifty kills at places that a seed names, in tool calls, checks, model calls and between: every
run ends as the one that was left alone, and does no finished call again."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from retrai_core import FilesStore
from retrai_core.agents.tool_call import CUT_OFF
from retrai_core.contracts.record import RunRecord
from retrai_core.storage.event_log import read_events

KILLING = Path(__file__).parent / "killing"
KILLS = 50
SEED = 20


@dataclass
class Ended:
    """A run that was killed `kills` times, and what it left."""

    record: RunRecord
    folder: Path
    project: Path
    kills: int

    @property
    def events(self) -> list[Any]:
        return list(read_events(self.folder / "events.jsonl"))

    @property
    def cut_off(self) -> set[str]:
        """The calls that the model was told were cut off."""
        results = [e.payload for e in self.events if e.kind == "tool_result"]
        return {result["id"] for result in results if result["content"] == CUT_OFF}

    @property
    def files(self) -> dict[str, bytes]:
        """The project, but for the marks."""
        return {p.name: p.read_bytes() for p in self.project.iterdir() if p.name != "marks.txt"}

    @property
    def marks(self) -> list[str]:
        return (self.project / "marks.txt").read_text().split()

    def calls(self, word: str) -> Counter[str]:
        """How often each call began (or ended), as the tools themselves noted."""
        lines = (self.folder / "calls").read_text().splitlines()
        return Counter(line.split()[1] for line in lines if line.startswith(f"{word} "))


def test_fifty_kills_change_nothing_of_how_runs_end(tmp_path: Path) -> None:
    # One test: the runs are made once, also where tests are spread over several processes.
    ended = killed_runs(tmp_path)
    there_were_fifty_kills_some_of_them_inside_tool_calls(ended)
    every_run_ends_as_the_one_that_was_left_alone(ended)
    no_call_is_made_twice(ended)
    what_was_spent_is_counted_once_also_for_an_answer_that_was_lost(ended)
    every_run_knows_the_tree_it_began_with(ended)


def killed_runs(folder: Path) -> list[Ended]:
    """The run that was left alone, and those that were killed."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("RETRAI_")}
    done = subprocess.run(
        [sys.executable, str(KILLING / "nursery.py"), str(folder), str(SEED), str(KILLS)],
        env=env | {"PYTHONPATH": str(KILLING), "XDG_CONFIG_HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    store = FilesStore(state=folder / "state")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    records = [asyncio.run(store.load(run["id"])) for run in told]
    return [
        Ended(record, store.folder(record.id), Path(run["project"]), run["kills"])
        for record, run in zip(records, told, strict=True)
    ]


def there_were_fifty_kills_some_of_them_inside_tool_calls(ended: list[Ended]) -> None:
    assert ended[0].kills == 0
    assert sum(run.kills for run in ended) == KILLS
    inside = [mark for run in ended for mark in run.calls("begin") - run.calls("end")]
    assert len(inside) >= 5
    resumed = [run for run in ended if run.kills > 1]
    assert len(resumed) >= 5


def every_run_ends_as_the_one_that_was_left_alone(ended: list[Ended]) -> None:
    alone = ended[0]
    assert (alone.record.status, alone.record.iterations) == ("achieved", 6)
    for run in ended[1:]:
        said = (run.record.status, run.record.reason, run.record.exit_code)
        assert said == (alone.record.status, alone.record.reason, alone.record.exit_code)
        assert run.files == alone.files
        assert run.record.changed_files == alone.record.changed_files
        assert run.record.tree_before == alone.record.tree_before
        assert run.record.evidence.before == alone.record.evidence.before
        assert run.record.evidence.after == alone.record.evidence.after
        # A turn that was cut off is made once more, and no other.
        assert alone.record.iterations <= run.record.iterations
        assert run.record.iterations <= alone.record.iterations + len(run.cut_off)
        if not run.cut_off:
            assert run.marks == alone.marks


def no_call_is_made_twice(ended: list[Ended]) -> None:
    for run in ended:
        assert set(run.calls("begin").values()) == {1}
        assert set(Counter(run.marks).values()) == {1}
        # One that was cut off need not be made again where the goal passes without it.
        known = {mark.split("/")[0] for mark in (*run.marks, *run.cut_off)}
        assert known >= {f"mark-{n}" for n in range(6)}
        journal = (run.folder / "journal.jsonl").read_text().splitlines()
        begun = Counter(e["call"] for line in journal if "begin" in (e := json.loads(line)))
        assert set(begun.values()) == {1}
        # Whatever had ended is known to have, unless the kill came before it could be noted.
        unfinished = run.cut_off & set(run.calls("end"))
        assert len(unfinished) <= run.kills


def what_was_spent_is_counted_once_also_for_an_answer_that_was_lost(
    ended: list[Ended],
) -> None:
    for run in ended:
        calls = [event for event in run.events if event.kind == "llm_usage"]
        assert run.record.tokens.total == 15 * len(calls)
        assert run.record.cost_usd == pytest.approx(0.015 * len(calls))


def every_run_knows_the_tree_it_began_with(ended: list[Ended]) -> None:
    (tree,) = {run.record.tree_before for run in ended}
    assert tree
