"""Ctrl-C and SIGTERM leave nothing behind: no process, and no run that somebody waits for."""

from __future__ import annotations

import os
import select
import signal
from pathlib import Path

import psutil
import pytest

from retrai_testkit import RetraiProject, ScriptedModel, call

from .watched import TIMEOUT_S, watching

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SLEEP = "echo $$ > {fifo}; exec sleep 1000"


def first_line(fifo: Path) -> bytes:
    """What is written to a named pipe first, as soon as someone writes to it."""
    with open(os.open(fifo, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as file:
        assert select.select([file], [], [], TIMEOUT_S)[0], "nobody wrote"
        return file.readline()


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    """Where a command says that it runs."""
    path = tmp_path / "started"
    os.mkfifo(path)
    return path


def let_a_run_sleep(project: RetraiProject, fifo: Path) -> None:
    """Configure a check that fails, and a model whose one command sleeps."""
    script = ScriptedModel().play(call("bash_exec", command=SLEEP.format(fifo=fifo)))
    project.write({"a.txt": "wrong"})
    project.configure(
        goal="expected-files",
        options={"files": {"a.txt": "right"}},
        tools=["bash_exec"],
        **script.settings,
    )


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_during_a_check(
    retrai_project: RetraiProject, fifo: Path, number: signal.Signals
) -> None:
    line = SLEEP.format(fifo=fifo)
    retrai_project.configure(goal="shell-goal", check_command=line)
    with watching(retrai_project) as watched:
        watched.next("watching")
        sleeping = int(first_line(fifo))
        children = psutil.Process(watched.process.pid).children(recursive=True)
        assert sleeping in {child.pid for child in children}
        code, error = watched.stop(number)
    assert (code, error) == (130, "")
    assert psutil.wait_procs(children, timeout=0)[1] == []


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_during_a_run_ends_it_as_interrupted(
    retrai_project: RetraiProject, fifo: Path, number: signal.Signals
) -> None:
    let_a_run_sleep(retrai_project, fifo)
    with watching(retrai_project, "--fix") as watched:
        watched.next("watching")
        assert not watched.next("check")["achieved"]
        watched.next("run_started")
        sleeping = int(first_line(fifo))
        children = psutil.Process(watched.process.pid).children(recursive=True)
        assert sleeping in {child.pid for child in children}
        watched.process.send_signal(number)
        assert watched.next("run")["run"]["status"] == "interrupted"
        code, error = watched.ended()
    assert (code, error) == (130, "")
    assert psutil.wait_procs(children, timeout=0)[1] == []


def test_a_run_that_cannot_begin_is_not_announced(
    retrai_project: RetraiProject, fifo: Path
) -> None:
    let_a_run_sleep(retrai_project, fifo)
    with watching(retrai_project, "--fix") as first:
        first.next("watching")
        first.next("check")
        run = first.next("run_started")["message"].split()[1]
        first_line(fifo)
        with watching(retrai_project, "--fix") as second:
            second.next("watching")
            assert not second.next("check")["achieved"]
            assert run in second.next("not_run")["message"]
            second.stop()
        first.stop()


def test_a_second_signal_ends_it_at_once(retrai_project: RetraiProject, fifo: Path) -> None:
    line = f"trap '' TERM INT; {SLEEP.format(fifo=fifo)}"
    retrai_project.configure(
        goal="shell-goal", check_command=line, plugins={"local": {"grace_s": 60}}
    )
    with watching(retrai_project) as watched:
        watched.next("watching")
        sleeping = psutil.Process(int(first_line(fifo)))
        watched.process.send_signal(signal.SIGINT)
        watched.process.send_signal(signal.SIGTERM)
        assert watched.ended()[0] == 130
        sleeping.wait(TIMEOUT_S)  # its keeper notices


def test_a_signal_while_nothing_goes_on(retrai_project: RetraiProject) -> None:
    retrai_project.configure(goal="shell-goal", check_command="true")
    with watching(retrai_project) as watched:
        watched.next("watching")
        watched.next("check")
        assert watched.stop() == (130, "")
