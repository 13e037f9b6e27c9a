"""A plugin that blocks the event loop: a tool is ended, and Ctrl-C ends everything."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

from hostile.making import GOAL, Hostile, wheel
from hostile.retrai_cells import START, Place

TIMEOUT_S = 60
BLOCKING = GOAL.replace("NAME", "blocks").replace(
    'return GoalResult((cwd / "a.txt")',
    "import time; (cwd / 'started').write_text('x'); time.sleep(10**6)\n"
    '        return GoalResult((cwd / "a.txt")',
)


def pressed_until_it_ends(run: subprocess.Popen[str]) -> str:
    """What it printed; two signals at once may reach two threads, and wake the main one once."""
    for _ in range(TIMEOUT_S):
        run.send_signal(signal.SIGINT)
        try:
            return run.communicate(timeout=1)[0]
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError("no signal ends it")


def test_a_second_signal_ends_a_run_whose_goal_blocks_the_loop(tmp_path: Path) -> None:
    row = Hostile("", "blocks", [wheel("blocks", BLOCKING)], "")
    place = Place(tmp_path / "place", row)
    place.fresh({})
    fifo = place.project / "started"
    os.mkfifo(fifo)
    run = subprocess.Popen(
        [sys.executable, "-c", START, "run", "blocks", "-m", "player"],
        cwd=place.project,
        env=place.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        with open(os.open(fifo, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as file:
            assert select.select([file], [], [], TIMEOUT_S)[0], "the check was not reached"
        out = pressed_until_it_ends(run)
        assert run.returncode == 130, out
    finally:
        run.kill()
        run.communicate()
