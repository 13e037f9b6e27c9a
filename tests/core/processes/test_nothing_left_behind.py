"""However a command ends, nothing that it started runs on."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Protocol

import pytest

from retrai_core import Completed, ProcessRunner, ToolError

# Three kinds of descendants: a child, one of the same group whose parent is gone, and a daemon that
# left group and session. Each ignores SIGTERM and holds the pipes open.
FAMILY = """
trap '' TERM
sh -c 'echo $$ > child; exec sleep 600' &
(sh -c 'echo $$ > orphan; exec sleep 600' &)
(setsid sh -c 'echo $$ > daemon; exec sleep 600' &)
until [ -s child ] && [ -s orphan ] && [ -s daemon ]; do sleep 0.01; done
echo ready
"""
MEMBERS = ("child", "orphan", "daemon")

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux finds daemons")


class Watch(Protocol):
    async def written(self, name: str) -> int: ...
    def is_alive(self, pid: int) -> bool: ...
    async def end(self, pid: int) -> None: ...


async def _family(processes: Watch) -> list[int]:
    return [await processes.written(name) for name in MEMBERS]


@linux
async def test_what_a_command_leaves_running_is_ended_with_it(
    runner: ProcessRunner, processes: Watch
) -> None:
    done = await runner.run(FAMILY, timeout_s=60)

    assert done.stdout == "ready\n"
    assert done.exit_code == 0
    assert not any(processes.is_alive(pid) for pid in await _family(processes))


@linux
async def test_a_time_out_ends_every_descendant(runner: ProcessRunner, processes: Watch) -> None:
    done = await runner.run(FAMILY + "sleep 600", timeout_s=3)

    assert done.timed_out
    assert done.exit_code == -signal.SIGKILL
    assert not any(processes.is_alive(pid) for pid in await _family(processes))


async def test_a_time_out_lets_a_command_end_politely(runner: ProcessRunner) -> None:
    polite = "trap 'echo cleaned; exit 5' TERM; echo ready; while :; do sleep 0.01; done"

    done = await runner.run(polite, timeout_s=2)

    assert done.timed_out
    assert (done.exit_code, done.stdout) == (5, "ready\ncleaned\n")


@linux
async def test_a_cancelled_command_is_gone_when_the_cancellation_arrives(
    runner: ProcessRunner, processes: Watch
) -> None:
    running = asyncio.create_task(runner.run(FAMILY + "sleep 600", timeout_s=60))
    family = await _family(processes)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert not any(processes.is_alive(pid) for pid in family)


@linux
async def test_closing_the_sandbox_ends_what_still_runs(
    runner: ProcessRunner, processes: Watch
) -> None:
    running = asyncio.create_task(runner.run(FAMILY + "sleep 600", timeout_s=60))
    family = await _family(processes)

    await runner.aclose()

    assert not any(processes.is_alive(pid) for pid in family)
    assert (await running).exit_code == -signal.SIGKILL


@linux
async def test_one_commands_end_leaves_the_others_alone(
    runner: ProcessRunner, processes: Watch, tmp_path: Path
) -> None:
    wait = "(setsid sh -c 'echo $$ > other; until [ -e go ]; do sleep 0.01; done; touch went' &) ;"
    wait += "until [ -e went ]; do sleep 0.01; done; echo well"
    running = asyncio.create_task(runner.run(wait, timeout_s=60))
    other = await processes.written("other")

    await runner.run(FAMILY, timeout_s=60)

    assert processes.is_alive(other)
    (tmp_path / "go").touch()
    assert (await running).stdout == "well\n"


@linux
async def test_a_process_that_keeps_forking_is_ended(
    runner: ProcessRunner, processes: Watch
) -> None:
    # Each generation starts the next in a session of its own and goes away.
    hydra = """
import os, sys
generation = 0
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
    generation += 1
    if generation == 20:
        open("running", "w").write("1\\n")
"""
    running = asyncio.create_task(runner.run([sys.executable, "-c", hydra], timeout_s=60))

    done = await running

    assert done.exit_code == 0
    marked = await runner.run(["ps", "-eo", "args"], timeout_s=30)
    assert "generation == 20" not in marked.stdout


KILLED = """
import asyncio, sys
from pathlib import Path
from retrai_core import ProcessOptions, ProcessRunner, RunContext
from retrai_core.workspace.safe_paths import SafeWorkspace
folder = Path(sys.argv[1])
context = RunContext("r1", folder, SafeWorkspace(folder), sys.executable, folder)
runner = ProcessRunner(context, ProcessOptions())
asyncio.run(runner.run(sys.argv[2], timeout_s=600))
"""


@linux
async def test_when_retrai_is_killed_nothing_outlives_it(tmp_path: Path, processes: Watch) -> None:
    command = "echo $PPID > keeper; " + FAMILY + "sleep 600"
    argv = [sys.executable, "-c", KILLED, str(tmp_path), command]
    retrai = await asyncio.create_subprocess_exec(*argv)
    family = [*await _family(processes), await processes.written("keeper")]

    retrai.kill()
    await retrai.wait()

    for pid in family:
        await processes.end(pid)


@linux
async def test_when_the_keeper_is_killed_its_command_ends_and_the_next_one_runs(
    runner: ProcessRunner, processes: Watch
) -> None:
    command = "echo $PPID > keeper; " + FAMILY + "sleep 600"
    running = asyncio.create_task(runner.run(command, timeout_s=60))
    family = await _family(processes)

    os.kill(await processes.written("keeper"), signal.SIGKILL)

    with pytest.raises(ToolError, match="keeper was killed"):
        await running
    for pid in family:
        await processes.end(pid)
    assert (await runner.run(["echo", "on"], timeout_s=30)).stdout == "on\n"


@linux
async def test_when_the_parent_of_a_keeper_is_killed_commands_still_run(
    runner: ProcessRunner, processes: Watch
) -> None:
    first: Completed = await runner.run("ps -o ppid= -p $PPID", timeout_s=30)

    os.kill(int(first.stdout), signal.SIGKILL)
    await processes.end(int(first.stdout))

    # Side by side, for one of them the keeper is there already.
    done = await asyncio.gather(
        *(runner.run("echo $PPID; ps -o ppid= -p $PPID", timeout_s=30) for _ in range(2))
    )
    keepers = {one.stdout.split()[0] for one in done}
    parents = {one.stdout.split()[1] for one in done}
    assert len(keepers) == 2
    assert first.stdout.strip() not in parents


@linux
async def test_a_keeper_that_is_killed_while_it_waits_is_replaced(
    runner: ProcessRunner, processes: Watch
) -> None:
    first = await runner.run("echo $PPID", timeout_s=30)
    again = await runner.run("echo $PPID", timeout_s=30)
    assert again.stdout == first.stdout

    os.kill(int(first.stdout), signal.SIGKILL)
    await processes.end(int(first.stdout))

    assert (await runner.run("echo on", timeout_s=30)).stdout == "on\n"
