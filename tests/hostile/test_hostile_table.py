"""Every cell of retrai's hostile-plugin table, with as few processes as show it.

`benchmarks/hostile_plugins.py` runs each command in a process of its own; here the runs that use a
hostile plugin happen in this process, and one folder with all of them stands for the others.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hostile.making import Hostile
from hostile.plugins import ROWS
from hostile.retrai_cells import COMMANDS, Place, problems_of

from retrai_core import FilesStore, RetraiError, RunManager, RunRequest
from retrai_core.config.sources import load_settings

IN_PROCESSES_OF_THEIR_OWN = {
    # What blocks a thread for an hour must not do so in ours.
    "sink-blocks",
    # Waited for: `test_patience.py` has the rule, the benchmark the half minute.
    "sleeps",
}
HERE = [row for row in ROWS if row.name not in IN_PROCESSES_OF_THEIR_OWN]
FAIL_CLOSED = {row.name for row in ROWS if row.bystander_exit_code} | {"sink-blocks"}


def smaller(row: Hostile) -> Hostile:
    """The row with ten megabytes in the place of a gigabyte."""
    wheels = [replace(each, code=each.code.replace("10**9", "10**7")) for each in row.wheels]
    return replace(row, wheels=wheels)


@pytest.fixture(params=HERE, ids=[row.name for row in HERE])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    """A project beside one hostile plugin, which this process sees until the test has ended."""
    made = Place(tmp_path, smaller(request.param))
    for name in [name for name in os.environ if name.startswith("RETRAI_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.syspath_prepend(str(made.site))
    yield made
    packages = {path.name for path in made.site.iterdir()}
    for name in [name for name in sys.modules if name.partition(".")[0] in packages]:
        del sys.modules[name]


async def used(place: Place) -> tuple[int, str]:
    """The exit code of a run that uses the plugin, and all that it said."""
    row = place.row
    place.fresh(row.config)
    goal, _, model = row.arguments
    flags = {"goal": goal, "model_name": model}
    store = FilesStore(state=place.state / "retrai")
    try:
        request = RunRequest(config=load_settings(place.project, flags).config)
        async with RunManager(store, "inline") as manager:
            record = await (await manager.submit(request)).result()
    except RetraiError as error:
        return error.exit_code, str(error)
    assert record.exit_code is not None
    return record.exit_code, record.reason


async def test_a_run_that_uses_a_hostile_plugin_ends_as_documented(
    place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    before = os.getcwd()
    async with asyncio.timeout(120):
        exit_code, told = await used(place)
    row, log = place.row, place.log()
    assert (exit_code, told) == (row.exit_code, told)
    if row.says:
        said = told + json.dumps([json.loads(line) for line in log.splitlines()])
        assert [words for words in row.says if words not in said] == []
        assert row.dist in said
    assert [words for words in row.logged if words not in log] == []
    assert len(log) < 100_000
    assert "NOISE" not in capfd.readouterr().out
    assert os.getcwd() == before


def test_help_and_list_and_an_unrelated_run_work_with_all_of_them_installed(tmp_path: Path) -> None:
    wheels = [wheel for row in ROWS if row.name not in FAIL_CLOSED for wheel in row.wheels]
    row = replace(next(row for row in ROWS if row.name == "raises"), wheels=wheels)
    assert set(problems_of(tmp_path / "all", row, COMMANDS[:3]).values()) == {""}


@pytest.mark.parametrize("name", ["sink-blocks", "gate"])
def test_a_plugin_that_every_run_uses_does_so_in_any_run(tmp_path: Path, name: str) -> None:
    [row] = [row for row in ROWS if row.name == name]
    assert problems_of(tmp_path / "one", row, [COMMANDS[2]]) == {COMMANDS[2]: ""}


def test_a_broken_gate_stops_neither_help_nor_the_list_nor_who_switches_it_off(
    tmp_path: Path,
) -> None:
    [row] = [row for row in ROWS if row.name == "gate"]
    assert set(problems_of(tmp_path / "one", row, COMMANDS[:2]).values()) == {""}
    place = Place(tmp_path / "other", row)
    place.fresh({})
    place.switches["RETRAI_DISABLE_PLUGINS"] = row.name
    done = place.retrai("run", "held", "-m", "player")
    assert (done.exit_code, done.left) == (0, []), done.text
