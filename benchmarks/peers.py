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
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fake_openai import FakeOpenAI

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OURS = (
    "retrai_core",
    "retrai_goals_python",
    "plugins/retrai_tools_code",
    "plugins/retrai_llm_litellm",
)
SUBMIT = {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}
MEND = {"path": "ages.py", "old": "age > 18", "new": "age >= 18"}
AGES = "def of_age(age):\n    return age > 18\n"
TEST = """\
import time
from ages import of_age

def test_eighteen_is_of_age():
    time.sleep({seconds})
    assert of_age(18)

def test_seventeen_is_not():
    assert not of_age(17)
"""


@dataclass(frozen=True)
class Peer:
    """One contender.

    Attributes:
        name: as the table shows it.
        environment: the folder of its environment below the cache.
        packages: what is installed there.
        tool: the tool that the server asks for, with the arguments of each call.
        closing_tool: the call that ends the work; None when a word does.
        command: argv after the interpreter, given the server's address and the work folder.
        suite_seconds: how long the project's tests take; None when the peer needs no project.
    """

    name: str
    environment: str
    packages: Sequence[str]
    tool: tuple[str, Callable[[int], dict[str, Any]]]
    closing_tool: tuple[str, dict[str, Any]] | None
    command: Callable[[str, Path], list[str]]
    suite_seconds: float | None = None


@dataclass
class Measured:
    """What the runs of one peer showed; one entry a run."""

    gap_ms: list[float] = field(default_factory=list[float])
    first_request_s: list[float] = field(default_factory=list[float])
    memory_mb: list[float] = field(default_factory=list[float])
    cpu_s: list[float] = field(default_factory=list[float])
    after_baseline_s: list[float] = field(default_factory=list[float])


def retrai_command(url: str, folder: Path) -> list[str]:
    """A whole `retrai run` in the project in `folder`."""
    options = {"litellm": {"api_base": url}}
    (folder / ".retrai.yml").write_text(json.dumps({"plugins": options}))
    run = ["-m", "retrai_core", "run", "pytest", "-m", "openai/gpt-4o-mini", "-C", str(folder)]
    return [*run, "-n", "60", "--json", "--trust"]


def line_of_notes(number: int) -> dict[str, Any]:
    """The arguments of a trivial call, each with a result of its own."""
    return {"path": "notes.txt", "start_line": number + 1, "end_line": number + 1}


def peer_list() -> list[Peer]:
    """The contenders."""
    retrai = Peer(
        name="retrai",
        environment="retrai",
        packages=["pytest"],
        tool=("file_read", line_of_notes),
        closing_tool=("file_patch", MEND),
        command=retrai_command,
        suite_seconds=0,
    )
    slow = replace(retrai, name="retrai, 8 s suite", suite_seconds=8)
    create_agent = Peer(
        name="create_agent",
        environment="create_agent",
        packages=["langchain", "langchain-litellm", "mcp"],
        tool=("noop", lambda _: {}),
        closing_tool=None,
        command=lambda url, _: [str(HERE / "peer_agents" / "create_agent.py"), url],
    )
    mini = Peer(
        name="mini-swe-agent",
        environment="mini-swe-agent",
        packages=["mini-swe-agent", "mcp"],
        tool=("bash", lambda number: {"command": f": {number}"}),
        closing_tool=("bash", SUBMIT),
        command=lambda url, _: [str(HERE / "peer_agents" / "mini_swe_agent.py"), url],
    )
    return [retrai, slow, create_agent, mini]


def prepare(peer: Peer, cache: Path) -> Path:
    """The interpreter of the peer's environment, made where it is missing; retrai's is renewed."""
    folder = cache / peer.environment
    python = folder / "bin" / "python"
    install = ["install", "--quiet", "--constraint", str(ROOT / "constraints.txt")]
    uv = shutil.which("uv")
    if uv is not None:
        pip = [uv, "pip", install[0], "--python", str(python), "--compile-bytecode", *install[1:]]
        make = [uv, "venv", "--quiet", "--python", sys.executable, str(folder)]
    else:
        pip = [str(python), "-m", "pip", *install]
        make = [sys.executable, "-m", "venv", str(folder)]
    done = folder / "installed.txt"
    wanted = "\n".join([*peer.packages, (ROOT / "constraints.txt").read_text()])
    if not done.is_file() or done.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(make, check=True)
        ours = [str(ROOT / path) for path in OURS] if peer.environment == "retrai" else []
        subprocess.run([*pip, *peer.packages, *ours], check=True)
        done.write_text(wanted)
    elif peer.environment == "retrai":
        fresh = ["--reinstall"] if uv is not None else ["--force-reinstall"]
        paths = [str(ROOT / path) for path in OURS]
        subprocess.run([*pip, "--no-deps", *fresh, *paths], check=True)
    return python


def make_project(folder: Path, suite_seconds: float) -> None:
    """A project with one failing test, which one edit mends."""
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\ntestpaths = ['.']\n")
    (folder / "ages.py").write_text(AGES)
    (folder / "notes.txt").write_text("".join(f"note {number}\n" for number in range(1000)))
    (folder / "test_ages.py").write_text(TEST.format(seconds=suite_seconds))


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
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--calls", type=int, default=25)
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
