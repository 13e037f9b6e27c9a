"""Output that is redirected into the project: no check is run for it, and the user is told."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from retrai_core.workspace.own_output import own_output

Runs = Any
"""The fixture's class, in conftest.py."""


@contextmanager
def output_to(path: Path) -> Generator[None]:
    """As `> path` on the command line: standard output is that file."""
    kept = os.dup(1)
    with path.open("wb") as file:
        os.dup2(file.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def put(path: str, text: str) -> dict[str, Any]:
    """A call that writes a file."""
    return {"name": "put", "args": {"path": path, "text": text}}


def warnings(runs: Runs, record: Any) -> list[str]:
    said = [event.payload for event in runs.events(record, "log")]
    return [payload["message"] for payload in said if payload["level"] == "warning"]


LOOK = {"calls": [{"name": "look", "args": {"path": "a.txt"}}]}
PRINTS = {"calls": [put("out.txt", "one more line\n")]}
MENDS = {"calls": [put("a.txt", "right\n")]}


async def test_what_retrai_prints_into_the_project_runs_no_check(runs: Runs) -> None:
    with output_to(runs.project / "out.txt"):
        record = await runs.run([LOOK, PRINTS, MENDS])
    assert (record.status, record.checks_remembered) == ("achieved", 2)
    (told,) = [line for line in warnings(runs, record) if "out.txt" in line]
    assert told.startswith("this output goes to out.txt, a file of the project")


async def test_a_file_of_that_name_that_is_not_the_output_is_looked_at(runs: Runs) -> None:
    with output_to(runs.project.parent / "out.txt"):
        record = await runs.run([LOOK, PRINTS, MENDS])
    assert (record.status, record.checks_remembered) == ("achieved", 1)
    assert [line for line in warnings(runs, record) if "out.txt" in line] == []


async def test_another_name_for_the_output_is_looked_at(runs: Runs) -> None:
    (runs.project / "out.txt").touch()
    linked = {"calls": [{"name": "shell", "args": {"line": "ln out.txt c.txt; echo x > c.txt"}}]}
    with output_to(runs.project / "out.txt"):
        record = await runs.run([LOOK, linked, MENDS])
    assert (record.status, record.checks_remembered) == ("achieved", 1)


async def test_a_verdict_that_holds_is_not_remembered_beside_such_output(runs: Runs) -> None:
    expected = (runs.project / "expected.txt").read_text()
    (runs.project / "c.txt").write_text("old\n")
    # Not taken as achieved: the new case passes on the sources as they were.
    refused = {"calls": [*MENDS["calls"], put("expected.txt", f"{expected}c.txt: old\n")]}
    settings = {"allow_edit": ["expected.txt"], "max_iterations": 3}
    with output_to(runs.project / "out.txt"):
        record = await runs.run([refused, PRINTS, PRINTS], **settings)
    assert (record.status, record.checks_remembered) == ("failed", 0)
    assert "prove nothing of the change" in record.reason


@pytest.mark.parametrize("kind", ["pipe", "deleted", "replaced"])
def test_what_is_no_file_of_the_project_is_not_left_out(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "out.txt"
    with output_to(path):
        assert own_output(tmp_path) == {"out.txt"}
        if kind == "pipe":
            reading, writing = os.pipe()
            os.dup2(writing, 1)
            os.close(reading)
            os.close(writing)
        else:
            path.unlink()
        if kind == "replaced":
            path.touch()
        assert own_output(tmp_path) == frozenset()
