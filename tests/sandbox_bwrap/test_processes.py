"""A command sees no process but its own, and leaves none behind."""

from __future__ import annotations

import os
import signal
import subprocess
import uuid

import psutil

from .conftest import SECRET, attempt, attempt_python

LOOK = """
import glob, sys
found = 0
for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try:
        with open(path, "rb") as file:
            found += b"the-secret-" + b"of-the-user" in file.read()
    except OSError:
        pass
print(found)
"""
DAEMONS = {
    "setsid": "setsid {nap} >/dev/null 2>&1 </dev/null &",
    "nohup": "nohup {nap} >/dev/null 2>&1 &",
    "disown": "{nap} >/dev/null 2>&1 & disown",
    "twice forked": "(setsid bash -c 'trap \"\" TERM HUP INT; ({nap}) & exit 0' "
    ">/dev/null 2>&1 </dev/null &)",
}


async def test_no_other_process_is_seen(walled, local, other):
    assert other.poll() is None
    assert (await attempt_python(walled, LOOK)).stdout == "0\n"
    assert int((await attempt_python(local, LOOK)).stdout) > 0


async def test_no_other_process_can_be_ended(walled, local, other):
    line = 'kill -9 "$1"; kill -9 -1; pkill -9 -f "$2"'
    await attempt(walled, line, str(other.pid), other.args[1])
    assert other.poll() is None
    await attempt(local, 'kill -9 "$1"', str(other.pid))
    assert other.wait(10) == -signal.SIGKILL


async def test_daemons_end_with_their_command(walled):
    for how, line in DAEMONS.items():
        nap = f"sleep {uuid.uuid4().int % 10**9 + 10**6}"
        done = await attempt(walled, line.format(nap=nap) + "\necho begun")
        assert done.stdout == "begun\n", how
        assert _pids(nap) == [], how


def test_such_daemons_outlive_a_command_that_nobody_looks_after():
    for line in DAEMONS.values():
        nap = f"sleep {uuid.uuid4().int % 10**9 + 10**6}"
        subprocess.run(["bash", "-c", line.format(nap=nap)], check=True, timeout=30)
        pids = _until_there(nap)
        assert pids
        for pid in pids:
            os.kill(pid, signal.SIGKILL)


async def test_a_command_is_asked_before_it_is_ended(walled):
    line = "trap 'echo asked; exit 7' TERM; while :; do sleep 0.05; done"
    done = await walled.run(line, timeout_s=1.5)
    assert (done.timed_out, done.stdout, done.exit_code) == (True, "asked\n", 7)


async def test_keys_of_the_user_are_not_in_the_environment(walled, monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, SECRET)
    assert SECRET not in (await attempt(walled, "env; cat /proc/*/environ")).stdout


async def test_commands_have_no_privilege(walled):
    line = "id -u; grep -h '^CapEff\\|^CapBnd\\|^NoNewPrivs' /proc/self/status; unshare -Ur true"
    done = await attempt(walled, line)
    words = done.stdout.split()
    assert int(words[0]) != 0
    assert int(words[2], 16) == 0
    assert words[words.index("NoNewPrivs:") + 1] == "1"
    assert done.exit_code != 0, "it made a namespace of its own"


def _pids(nap: str) -> list[int]:
    found: list[int] = []
    for process in psutil.process_iter():
        try:
            if process.cmdline() == nap.split() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            continue  # it has ended meanwhile, or is not ours
    return found


def _until_there(nap: str) -> list[int]:
    for _ in range(1000):
        if found := _pids(nap):
            return found
    return []
