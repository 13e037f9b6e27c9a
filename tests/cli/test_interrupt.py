"""Ctrl-C and SIGTERM end a run as interrupted, leave no child, and the run can go on later."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from .kept import kept_run, kept_runs

RIGHT = ("write_answer", {"text": "42"})
TIMEOUT_S = 60


def first_line(fifo: Path) -> bytes:
    """What is written to a named pipe first, as soon as someone writes to it."""
    with open(os.open(fifo, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as file:
        assert select.select([file], [], [], TIMEOUT_S)[0], "nobody wrote"
        return file.readline()


@pytest.fixture
def sleeping_run(toy, project: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A run in a process of its own, in the middle of a command, and that command's process id."""
    started = project / "started"
    os.mkfifo(started)
    wait = ("shell", {"line": "echo $$ > started; exec sleep 1000"})
    run = subprocess.Popen(
        [sys.executable, "-m", "retrai_core", *toy([wait], [RIGHT])],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        pid = int(first_line(started))
        started.unlink()
        yield run, pid
    finally:
        if run.poll() is None:
            run.kill()
        run.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_the_run_with_a_record_and_no_child(
    sleeping_run: tuple[subprocess.Popen[str], int], number: signal.Signals
) -> None:
    run, pid = sleeping_run
    children = psutil.Process(run.pid).children(recursive=True)
    assert pid in {child.pid for child in children}
    run.send_signal(number)
    out, _ = run.communicate(timeout=TIMEOUT_S)
    assert run.returncode == 130, out
    assert psutil.wait_procs(children, timeout=0)[1] == []
    (record,) = kept_runs()
    assert (record.status, record.exit_code) == ("interrupted", 130)
    assert f"retrai runs resume {record.id}" in out


def test_an_interrupted_run_is_resumed_and_the_model_hears_what_was_cut_off(
    sleeping_run: tuple[subprocess.Popen[str], int], retrai, project: Path
) -> None:
    run, _ = sleeping_run
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=TIMEOUT_S)
    (record,) = kept_runs()
    code, out, _ = retrai("runs", "resume", record.id)
    assert code == 0, out
    assert (project / "answer.txt").read_text() == "42"
    assert kept_run(record.id).status == "achieved"


def test_a_second_signal_ends_everything_at_once(
    sleeping_run: tuple[subprocess.Popen[str], int],
) -> None:
    run, _ = sleeping_run
    children = psutil.Process(run.pid).children(recursive=True)
    run.send_signal(signal.SIGINT)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=TIMEOUT_S)
    assert run.returncode == 130
    assert psutil.wait_procs(children, timeout=TIMEOUT_S)[1] == []


STOPPING = """
import asyncio, sys, threading
from retrai_core.cli.render.terminal import RunTerminal, make_console
from retrai_core.cli.stop_signals import stop_signals

async def work(lasts):
    with stop_signals(stopped.set, RunTerminal(make_console()), "r1"):
        print("working", flush=True)
        await stopped.wait()
        if lasts:
            print("still working", flush=True)
            await asyncio.Event().wait()

stopped = asyncio.Event()
asyncio.run(work(sys.argv[1] == "run"))
print("the run has ended", flush=True)
threading.Event().wait()
"""


@pytest.mark.parametrize(
    ("lasts", "then"), [("run", "still working"), ("end", "the run has ended")]
)
def test_a_second_signal_says_how_to_go_on_while_the_run_stops_and_after_it(
    lasts: str, then: str
) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", STOPPING, lasts],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert program.stdout is not None
    try:
        assert program.stdout.readline() == "working\n"
        program.send_signal(signal.SIGINT)
        assert program.stdout.readline() == "stopping; once more stops at once\n"
        assert program.stdout.readline() == f"{then}\n"
        program.send_signal(signal.SIGINT)
        out, _ = program.communicate(timeout=TIMEOUT_S)
    finally:
        program.kill()
        program.communicate()
    assert out == "stopped at once; `retrai runs resume r1` goes on\n"
    assert program.returncode == 130


def test_a_second_run_in_the_project_is_refused_and_names_the_first(
    sleeping_run: tuple[subprocess.Popen[str], int], retrai, toy
) -> None:
    (first,) = kept_runs()
    code, out, err = retrai(*toy([RIGHT]))
    assert (code, out) == (2, "")
    assert first.id in err
    assert [record.id for record in kept_runs()] == [first.id]
