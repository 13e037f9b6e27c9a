"""`retrai memory list|forget` on the file that real runs write."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from retrai_core import RunOutcome
from retrai_core.cli.main import main
from retrai_memory_file.store import FileMemory

Retrai = Callable[..., tuple[int, str, str]]


@pytest.fixture
def retrai(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Retrai:
    monkeypatch.setenv("RETRAI_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def call(*args: object) -> tuple[int, str, str]:
        code = main([str(arg) for arg in args])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def taught(new_store: Callable[..., FileMemory], project: Path) -> Path:
    """A project whose runs learnt two things about pytest and one about pyright."""
    for goal, file in (("pytest", "a.py"), ("pytest", "b.py"), ("pyright", "c.py")):
        outcome = RunOutcome(goal, project, "achieved", "it fails", (file,), ("file_patch",), "")
        asyncio.run(new_store().learn(outcome))
    return project


def ids(retrai: Retrai, project: Path, *more: str) -> list[str]:
    code, out, err = retrai("memory", "list", "-C", project, "--json", *more)
    assert code == 0, err
    return [entry["id"] for entry in json.loads(out)]


def test_an_empty_memory_says_so(retrai: Retrai, project: Path) -> None:
    code, out, _ = retrai("memory", "list", "-C", project)
    assert code == 0
    assert "nothing is remembered" in out


def test_entries_are_listed_by_goal(retrai: Retrai, taught: Path) -> None:
    code, out, _ = retrai("memory", "list", "-C", taught)
    assert code == 0
    assert [line.split()[1] for line in out.splitlines()] == ["GOAL", "pyright", "pytest", "pytest"]
    assert len(ids(retrai, taught, "--goal", "pytest")) == 2


def test_what_goes_into_a_pipe_is_not_cut(
    retrai: Retrai, new_store: Callable[..., FileMemory], project: Path
) -> None:
    long = tuple(f"src/package/module_{number}.py" for number in range(9))
    outcome = RunOutcome("pytest", project, "achieved", "it fails", long, ("file_patch",), "")
    asyncio.run(new_store().learn(outcome))
    entry = json.loads(retrai("memory", "list", "-C", project, "--json")[1])[0]
    assert len(entry["pattern"]) > 100
    assert entry["pattern"] in retrai("memory", "list", "-C", project)[1]


def test_one_entry_a_goal_and_everything_can_be_forgotten(retrai: Retrai, taught: Path) -> None:
    first, second, third = ids(retrai, taught)
    assert retrai("memory", "forget", "-C", taught, second)[0] == 0
    assert ids(retrai, taught) == [first, third]
    assert retrai("memory", "forget", "-C", taught, "--goal", "pytest")[0] == 0
    assert ids(retrai, taught) == [first]
    assert retrai("memory", "forget", "-C", taught, "--all")[0] == 0
    assert ids(retrai, taught) == []


def test_an_unknown_id_forgets_nothing(retrai: Retrai, taught: Path) -> None:
    before = ids(retrai, taught)
    code, _, err = retrai("memory", "forget", "-C", taught, before[0], "nonsense")
    assert code == 2
    assert "nonsense" in err
    assert ids(retrai, taught) == before


def test_nothing_is_forgotten_by_default(retrai: Retrai, taught: Path) -> None:
    assert retrai("memory", "forget", "-C", taught)[0] == 2
    assert len(ids(retrai, taught)) == 3


def test_a_broken_file_is_a_warning_and_kept_aside(retrai: Retrai, taught: Path) -> None:
    (taught / ".retrai" / "memory.json").write_text("{")
    code, _, err = retrai("memory", "list", "-C", taught)
    assert code == 0
    assert "kept as memory.json.corrupt" in err
