"""Plugins' code beside the event loop: threads are used again; one that hangs holds up nobody."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading

import pytest

from retrai_core.plugins.daemon_call import aside, start_aside


async def test_work_after_work_takes_the_thread_that_is_idle() -> None:
    names = {await aside(threading.get_ident, 10) for _ in range(20)}

    # The thread is idle a moment before its result is heard of, so one always is.
    assert len(names) == 1


async def test_work_that_hangs_holds_up_no_other() -> None:
    released = threading.Event()
    hanging = [start_aside(released.wait) for _ in range(3)]
    try:
        assert await aside(lambda: "answered", 10) == "answered"
    finally:
        released.set()
    assert await asyncio.gather(*hanging) == [True, True, True]


async def test_an_exception_is_handed_on_and_the_thread_stays_of_use() -> None:
    def fail() -> None:
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        await aside(fail, 10)
    assert await aside(lambda: 1, 10) == 1


async def test_work_that_takes_too_long_is_left_behind() -> None:
    released = threading.Event()
    with pytest.raises(TimeoutError, match=r"within 0\.01 s"):
        await aside(released.wait, 0.01)
    released.set()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_starts_threads_of_its_own() -> None:
    script = """
import asyncio, os
from retrai_core.plugins.daemon_call import aside

asyncio.run(aside(int, 10))
child = os.fork()
if child == 0:
    asyncio.run(aside(int, 10))
    os._exit(7)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", script], timeout=60, check=False)

    assert done.returncode == 7


def test_a_process_ends_although_work_hangs() -> None:
    script = """
import asyncio, threading
from retrai_core.plugins.daemon_call import start_aside

async def main():
    start_aside(threading.Event().wait)

asyncio.run(main())
print("ended")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], timeout=60, check=True, capture_output=True, text=True
    )

    assert done.stdout == "ended\n"
