"""Bombs: a command cannot take the whole machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

from retrai_sandbox_bwrap import cgroup
from retrai_sandbox_bwrap.processes import few_numbers
from retrai_sandbox_bwrap.watch import Level, files_gone

from .conftest import attempt, attempt_python

FORKS = """
import os, signal, sys, time
wanted = int(sys.argv[1])
try:
    for number in range(wanted):
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
except BlockingIOError:
    print("refused", number, flush=True)
else:
    print("forked", wanted, flush=True)
time.sleep(float(sys.argv[2]))
os.killpg(0, signal.SIGKILL)
"""
THREADS = """
import threading, sys, time
try:
    for number in range(int(sys.argv[1])):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
except RuntimeError:
    print("refused", flush=True)
else:
    time.sleep(600)
"""
MEMORY = """
import sys, time
kept = []
for number in range(int(sys.argv[1])):
    kept.append(bytearray(b"x") * 2**20)
print("taken", flush=True)
time.sleep(float(sys.argv[2]))
"""


async def test_a_fork_bomb_is_contained(make, local):
    done = await attempt_python(await make(processes=64), FORKS, "400", "0")
    assert "processes and threads at once" in done.stderr or "refused" in done.stdout
    assert "forked 300" in (await attempt_python(local, FORKS, "300", "0")).stdout


async def test_threads_count_too(make):
    done = await attempt_python(await make(processes=64), THREADS, "300")
    assert "refused" in done.stdout or "processes and threads at once" in done.stderr


async def test_a_real_fork_bomb_is_contained(make):
    sandbox = await make(processes=100)
    harmless = await attempt_python(sandbox, FORKS, "450", "0")
    if "refused" not in harmless.stdout:
        pytest.skip("nothing binds the number of processes: an old kernel, no control group")
    done = await sandbox.run(":(){ :|:& };:; sleep 600", timeout_s=1)
    assert done.timed_out or done.exit_code != 0
    again = await sandbox.run("echo still here", timeout_s=60)
    assert again.stdout == "still here\n"


@pytest.fixture
def numbers():
    """What bounds the processes of root where there is no control group."""
    words = few_numbers(16)
    if not words or subprocess.run([*words, "true"], check=False).returncode != 0:
        pytest.skip("the kernel has one range of process numbers for all")
    return words


def test_process_numbers_run_out_where_nothing_else_binds(numbers):
    command = [*numbers, sys.executable, "-I", "-c", FORKS, "400", "0"]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=False, timeout=60, start_new_session=True
    )
    assert done.stdout.startswith("refused")


async def test_root_has_a_bound_without_a_control_group(
    make, context, numbers, tmp_path, monkeypatch
):
    monkeypatch.setattr(cgroup, "_ROOT", tmp_path)
    told = []
    context.on_event = told.append
    done = await attempt_python(await make(processes=16), FORKS, "400", "600")
    assert "processes and threads at once" in done.stderr or "refused" in done.stdout
    assert done.exit_code == -9
    assert not [event for event in told if event.payload.get("level") == "warning"]


async def test_a_memory_bomb_is_ended(make, local):
    done = await attempt_python(await make(total_memory_bytes=150 * 2**20), MEMORY, "300", "600")
    assert (done.exit_code, done.timed_out) == (-9, False)
    assert "total_memory_bytes" in done.stderr
    assert "taken" in (await attempt_python(local, MEMORY, "300", "0")).stdout


async def test_many_small_processes_are_a_memory_bomb_too(make):
    code = (
        "import os, time\n"
        "for _ in range(6):\n"
        "    if os.fork() == 0:\n"
        "        kept = bytearray(b'x') * (50 * 2**20)\n"
        "        time.sleep(600)\n"
        "os.wait()\n"
    )
    done = await attempt_python(await make(total_memory_bytes=150 * 2**20), code)
    assert "total_memory_bytes" in done.stderr


async def test_each_process_can_have_a_limit_of_its_own(make):
    sandbox = await make(memory_bytes=400 * 2**20)
    done = await attempt_python(sandbox, MEMORY, "500", "0")
    assert "MemoryError" in done.stderr


async def test_filling_the_disk_is_ended(make, local, context):
    line = 'for n in $(seq "$1"); do head -c 2000000 /dev/zero > "$2/fill-$n" || exit; done; $3'
    sandbox = await make(disk_bytes=60_000_000)
    for folder in (context.project, "/tmp"):
        done = await attempt(sandbox, line, "400", folder, "sleep 600")
        assert (done.exit_code, done.timed_out) == (-9, False)
        assert "the disk's free space shrank" in done.stderr
        for path in context.project.glob("fill-*"):
            path.unlink()
    await attempt(local, line, "50", context.project, "true")
    assert len(list(context.project.glob("fill-*"))) == 50


@pytest.mark.parametrize(
    ("after", "total", "ends"),
    [(1_000, 1_000_000, True), (100_000, 1_000_000, False), (0, 0, False), (190_000, 10**7, False)],
)
def test_a_disk_full_of_empty_files_is_full(after, total, ends):
    start, now = (Level(1, 1, (1,), ((left, total),)) for left in (200_000, after))
    assert bool(files_gone(start, now)) is ends


async def test_the_folders_in_memory_are_bounded(walled):
    code = "import os, sys; s = os.statvfs(sys.argv[1]); print(s.f_blocks * s.f_frsize)"
    for folder in ("/run", "/var/tmp", "/dev/shm"):
        assert int((await attempt_python(walled, code, folder)).stdout) <= 2**30
    assert (await attempt(walled, "touch /dev/x")).exit_code != 0
