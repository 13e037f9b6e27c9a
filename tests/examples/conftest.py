"""A project whose run asks before each change, and a program that stands before the runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from retrai_testkit import RetraiProject, ScriptedModel, call

EXAMPLES = Path(__file__).parents[2] / "examples"
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def asking(retrai_project: RetraiProject, scripted_model: ScriptedModel) -> RetraiProject:
    """Its goal passes after two changes, and a rule wants a person asked about each."""
    retrai_project.write({"a.txt": "wrong", "b.txt": "wrong"})
    scripted_model.play(
        call("put_file", path="a.txt", text="right"), call("put_file", path="b.txt", text="right")
    )
    retrai_project.configure(
        goal="expected-files",
        files={"a.txt": "right", "b.txt": "right"},
        permissions={"ask": ["put_file"]},
        **scripted_model.settings,
    )
    return retrai_project


@pytest.fixture
def start(retrai_project: RetraiProject) -> Iterator[Start]:
    """Starts an example program; what it has started is ended."""
    started: list[subprocess.Popen[str]] = []

    def start(name: str, *args: str, **environment: str) -> subprocess.Popen[str]:
        kept = {name: text for name, text in os.environ.items() if not name.startswith("RETRAI_")}
        program = subprocess.Popen(
            [sys.executable, str(EXAMPLES / "frontends" / name), *args],
            env={**kept, **retrai_project.environment, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(program)
        return program

    yield start
    for program in started:
        program.kill()
        program.wait()
        for stream in (program.stdin, program.stdout):
            if stream is not None:
                stream.close()
