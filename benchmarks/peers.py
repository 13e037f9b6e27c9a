"""retrai beside its peers: time between requests, time to the first one, memory.

    python benchmarks/peers.py --runs 5

All speak through LiteLLM to one fake OpenAI server on loopback, which asks for 25 trivial calls
one after another. Each peer has an environment of its own, made on the first call under `--cache`,
with the same releases (`constraints.txt`) and compiled bytecode. The peers take turns, so that a
busy moment of the machine hits them alike; compare the ratios, not the figures.

- gap: between the server's sending an answer and the next request's arrival; the median of a run
- first request: from the start of the process
- memory: the largest resident set of any one process of the run
- after baseline: from the end of the baseline check to the first request. The check of `retrai`
  takes as long as a small project's (a second); that of `retrai, 8 s suite` as long as most do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contenders import Peer, make_project, peer_list, prepare
from counts import positive
from fake_openai import FakeOpenAI


@dataclass
class Measured:
    """What the runs of one peer showed; one entry a run."""

    gap_ms: list[float] = field(default_factory=list[float])
    first_request_s: list[float] = field(default_factory=list[float])
    memory_mb: list[float] = field(default_factory=list[float])
    cpu_s: list[float] = field(default_factory=list[float])
    after_baseline_s: list[float] = field(default_factory=list[float])


def clean_environment(home: Path) -> dict[str, str]:
    """What every peer runs in: an empty home, no keys, no advice on the terminal."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "MSWEA_SILENT_STARTUP": "1",
        "NO_COLOR": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def run_to_its_end(command: list[str], folder: Path, env: dict[str, str]) -> tuple[int, Any]:
    """Start a process and wait for it: its exit code, and what it and its children used."""
    log = (folder.parent / "output.txt").open("wb")
    with log:
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage


async def measure(peer: Peer, python: Path, calls: int, into: Measured) -> None:
    """One run of one peer.

    Raises:
        SystemExit: it failed, or asked less often than it was told to.
    """
    server = FakeOpenAI(calls, *peer.tool, closing_tool=peer.closing_tool)
    url = await server.start()
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "project"
        folder.mkdir()
        if peer.suite_seconds is not None:
            make_project(folder, peer.suite_seconds)
        command = [str(python), *peer.command(url, folder)]
        env = clean_environment(Path(home))
        if peer.suite_seconds is not None:
            env["VIRTUAL_ENV"] = str(python.parent.parent)
        started_at = time.time()
        code, usage = await asyncio.to_thread(run_to_its_end, command, folder, env)
        await server.stop()
        if code != 0 or len(server.exchanges) <= calls:
            output = (folder.parent / "output.txt").read_text(errors="replace")[-3000:]
            requests = len(server.exchanges)
            sys.exit(f"{peer.name}: exit code {code} after {requests} requests\n{output}")
        first = server.exchanges[0].received_at
        into.gap_ms.append(statistics.median(server.gaps_ms()[:calls]))
        into.first_request_s.append(first - started_at)
        into.memory_mb.append(usage.ru_maxrss / 1024)
        into.cpu_s.append(usage.ru_utime + usage.ru_stime)
        baseline_end = end_of_baseline(Path(home))
        if baseline_end is not None:
            into.after_baseline_s.append(first - baseline_end)


def end_of_baseline(home: Path) -> float | None:
    """When the run log says that the baseline check was over; None without a run log."""
    for log in home.glob("state/**/events.jsonl"):
        for line in log.read_text().splitlines():
            event = json.loads(line)
            if event["kind"] == "goal_check" and event["payload"]["phase"] == "baseline":
                return float(event["ts"])
    return None


def table(measured: dict[str, Measured]) -> str:
    """Medians, and their ratio to the peer that the target names."""
    heads = ("peer", "gap ms", "first request s", "memory MB", "CPU s", "after baseline s")
    columns = ("gap_ms", "first_request_s", "memory_mb", "cpu_s", "after_baseline_s")
    rows = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for name, runs in measured.items():
        cells = [
            f"{statistics.median(values):.2f}" if (values := getattr(runs, column)) else ""
            for column in columns
        ]
        rows.append("| " + " | ".join([name, *cells]) + " |")
    return "\n".join(rows)


def verdicts(measured: dict[str, Measured]) -> list[str]:
    """The targets, each with the ratio that was reached."""

    def ratio(column: str, peer: str) -> float:
        ours, theirs = (getattr(measured[name], column) for name in ("retrai", peer))
        return statistics.median(ours) / statistics.median(theirs)

    lines: list[str] = []
    for column, peer, limit in (
        ("gap_ms", "create_agent", 0.8),
        ("first_request_s", "mini-swe-agent", 1.3),
        ("memory_mb", "mini-swe-agent", 1.3),
    ):
        if {"retrai", peer} <= measured.keys():
            reached = ratio(column, peer)
            word = "met" if reached <= limit else "MISSED"
            lines.append(f"{column}: {reached:.2f}x {peer}, at most {limit}x: {word}")
    for name, runs in measured.items():
        if runs.after_baseline_s:
            waited = statistics.median(runs.after_baseline_s)
            word = "met" if waited <= 0.5 else "MISSED"
            lines.append(f"after baseline ({name}): {waited:.2f} s, at most 0.5 s: {word}")
    return lines


def main() -> None:
    """Prepare, take turns, tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    default_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser.add_argument("--runs", type=positive, default=5)
    parser.add_argument("--calls", type=positive, default=25)
    parser.add_argument("--cache", type=Path, default=default_cache / "retrai-benchmarks")
    parser.add_argument("--peers", nargs="*", help="names; all when left out")
    given = parser.parse_args()
    peers = [peer for peer in peer_list() if not given.peers or peer.name in given.peers]
    pythons = {
        environment: prepare(peer, given.cache)
        for environment, peer in {peer.environment: peer for peer in peers}.items()
    }
    measured = {peer.name: Measured() for peer in peers}
    # The first round fills the disk cache, and is thrown away.
    for number in range(given.runs + 1):
        for peer in peers:
            into = measured[peer.name] if number else Measured()
            asyncio.run(measure(peer, pythons[peer.environment], given.calls, into))
        print(f"round {number} of {given.runs}", file=sys.stderr)
    print(table(measured))
    print()
    print("\n".join(verdicts(measured)))


if __name__ == "__main__":
    main()
