"""A run of one terminal is answered, cancelled and followed from another one."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from retrai_core import RunManager

from .kept import kept_runs

RIGHT = ("write_answer", {"text": "42"})
WRONG = ("write_answer", {"text": "54"})
TIMEOUT_S = 90
Start = Callable[..., "subprocess.Popen[str]"]


def second(*args: str) -> subprocess.CompletedProcess[str]:
    """A command of another terminal."""
    return subprocess.run(
        [sys.executable, "-m", "retrai_core", *args],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=TIMEOUT_S,
    )


@pytest.fixture
def first() -> Iterator[Start]:
    """Starts a command whose standard input is a terminal on which nobody types."""
    ours, theirs = pty.openpty()
    started: list[subprocess.Popen[str]] = []

    def start(*args: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "retrai_core", *args]
        program = subprocess.Popen(
            command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        started.append(program)
        return program

    yield start
    for program in started:
        program.kill()
        program.communicate()
    for end in (ours, theirs):
        with suppress(OSError):
            os.close(end)


def run_id_of(program: subprocess.Popen[str]) -> str:
    """The id of the run that the program has begun."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        if found := [run for run in kept_runs() if run.status != "pending"]:
            return found[0].id
        assert program.poll() is None, program.communicate()[0]
        time.sleep(0.05)
    raise AssertionError("no run began")


def followed(run_id: str, kind: str) -> None:
    """Follow the run from another process until there is such an event."""
    command = [sys.executable, "-m", "retrai_core", "runs", "follow", run_id, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        for line in following.stdout:
            if json.loads(line)["kind"] == kind:
                break
        else:
            raise AssertionError(f"the run ended without {kind}")
        following.terminate()


def test_a_question_is_answered_from_a_second_terminal(
    first: Start, toy: Callable[..., list[str]]
) -> None:
    run = first(*toy([WRONG], [RIGHT]), "--hitl")
    run_id = run_id_of(run)
    followed(run_id, "human_check_required")
    asked = second("runs", "answer", run_id)
    assert asked.returncode == 0, asked.stderr
    assert "Go on?" in asked.stdout
    assert "approve" in asked.stdout
    assert len([line for line in asked.stdout.splitlines() if "abort " in line]) == 1
    wrong = second("runs", "answer", run_id, "perhaps")
    assert wrong.returncode == 2
    assert "'perhaps' is no choice" in wrong.stderr
    given = second("runs", "answer", run_id[:6], "yes")
    assert given.returncode == 0, given.stderr
    out, _ = run.communicate(timeout=TIMEOUT_S)
    assert run.returncode == 0, out
    (asked_line,) = [line for line in out.splitlines() if line.startswith("[yes, no")]
    assert asked_line.endswith("abort] ")  # what comes after the answer has its own line
    late = second("runs", "answer", run_id, "yes")
    assert late.returncode == 2
    assert f"run {run_id} asks nothing now" in late.stderr


def test_an_answer_from_a_second_terminal_can_end_the_run(
    first: Start, toy: Callable[..., list[str]]
) -> None:
    run = first(*toy([WRONG], [RIGHT]), "--hitl")
    run_id = run_id_of(run)
    followed(run_id, "human_check_required")
    assert second("runs", "answer", run_id, "abort").returncode == 0
    out, _ = run.communicate(timeout=TIMEOUT_S)
    assert run.returncode == 3, out


@pytest.mark.parametrize(
    ("flags", "status", "code"), [([], "aborted", 3), (["--interrupt"], "interrupted", 130)]
)
def test_a_run_is_cancelled_from_a_second_terminal(
    first: Start, toy: Callable[..., list[str]], flags: list[str], status: str, code: int
) -> None:
    run = first(*toy([("shell", {"line": "exec sleep 1000"})], [RIGHT]))
    run_id = run_id_of(run)
    followed(run_id, "tool_call")
    ended = second("runs", "cancel", run_id, *flags)
    assert (ended.returncode, ended.stdout) == (0, f"run {run_id}: {status}\n")
    out, _ = run.communicate(timeout=TIMEOUT_S)
    assert run.returncode == code, out
    again = second("runs", "cancel", run_id)
    assert (again.returncode, again.stderr) == (1, f"run {run_id} has ended: {status}\n")


def test_a_run_is_followed_to_its_end_and_its_exit_code_is_told(
    first: Start, toy: Callable[..., list[str]]
) -> None:
    run = first(*toy([WRONG], [RIGHT]), "--hitl")
    run_id = run_id_of(run)
    following = subprocess.Popen(
        [sys.executable, "-m", "retrai_core", "runs", "follow", run_id],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    followed(run_id, "human_check_required")
    assert second("runs", "answer", run_id, "yes").returncode == 0
    shown, _ = following.communicate(timeout=TIMEOUT_S)
    run.communicate(timeout=TIMEOUT_S)
    assert (following.returncode, run.returncode) == (0, 0), shown
    assert "write_answer" in shown
    assert "achieved: it says 42" in shown


def test_who_follows_ends_no_run_by_going_away(first: Start, toy: Callable[..., list[str]]) -> None:
    run = first(*toy([WRONG], [RIGHT]), "--hitl")
    run_id = run_id_of(run)
    followed(run_id, "human_check_required")  # it ends its own process there
    assert [record.status for record in kept_runs()] == ["waiting"]
    assert second("runs", "answer", run_id, "yes").returncode == 0
    out, _ = run.communicate(timeout=TIMEOUT_S)
    assert run.returncode == 0, out


def test_what_a_program_began_goes_on_where_no_terminal_can_ask(
    toy: Callable[..., list[str]], project: Path
) -> None:
    model = toy([WRONG], [RIGHT])[-1]

    async def begin() -> str:
        async with RunManager(engine="inline") as manager:
            settings: dict[str, Any] = {"model": model, "max_iterations": 1, "interactive": True}
            run = await manager.submit(await manager.prepare(project, **settings))
            assert (await run.result()).status == "failed"
            return run.id

    resumed = second("runs", "resume", asyncio.run(begin()), "-n", "2")
    assert resumed.returncode == 0, resumed.stderr


def test_an_ended_run_is_followed_and_what_is_unknown_is_a_usage_error(
    retrai, toy: Callable[..., list[str]]
) -> None:
    assert retrai(*toy([WRONG]), "-n", "1")[0] == 1
    (record,) = kept_runs()
    code, out, _ = retrai("runs", "follow", record.id, "--json")
    assert code == 1
    assert json.loads(out.splitlines()[-1])["kind"] == "run_end"
    assert retrai("runs", "follow", "zzzz")[0] == 2
    assert retrai("runs", "cancel", record.id)[0] == 1
    assert retrai("runs", "answer", record.id, "yes")[0] == 2
