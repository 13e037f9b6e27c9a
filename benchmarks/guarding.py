"""What the guard costs: `python benchmarks/guarding.py [--rounds N] [--files N] [--packages N]`.

Two projects, one of three files and one of `--files` (5,000), each tested with this interpreter.
The second one has `--packages` (none) more in `node_modules`. Of each: the plain
`python -m pytest`, a check of a run (restoring, hashing the tree, pytest with the reporter), the
final verification with and without contradictions, the clean copy alone, one with copies of the
packages too, and a snapshot when one file changed. Wall-clock time is the median; processor time
(user and system, children too) is the mean, with what a run starts once spread over the rounds.
Only the ratios mean anything on another machine. Exits with 1 when a snapshot of the large project
costs more than 50 ms of processor time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from counts import positive

from retrai_core import ProcessOptions, RunContext
from retrai_core.storage.snapshots import Snapshots
from retrai_core.verification.clean_copy import make_clean_copy
from retrai_core.verification.final_check import final_check
from retrai_core.verification.guard import Guard
from retrai_core.verification.guarded_sandbox import guarded_sandbox
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_core.workspace.tree_hash import TreeHasher
from retrai_goals_python.pytest.goal import PytestGoal, PytestGoalOptions
from retrai_sandbox_local.sandbox import LocalSandbox

SNAPSHOT_BOUND_S = 0.050
PLUGINS = "-p no:langsmith_plugin -p no:xdist -p no:asyncio -p no:anyio -p no:hypothesispytest"
TEST = "from thing import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"


def make_project(folder: Path, files: int, packages: int = 0) -> Path:
    """A project that passes, with `files` files in packages of a hundred, and as many installed
    ones, in packages of twenty."""
    folder.mkdir()
    for number in range(packages):
        package = folder / "node_modules" / f"package_{number // 20:05}"
        package.mkdir(parents=True, exist_ok=True)
        (package / f"module_{number:06}.js").write_text(f"module.exports = {number};\n" * 40)
    (folder / "thing.py").write_text("def add(a, b):\n    return a + b\n")
    (folder / "test_thing.py").write_text(TEST)
    (folder / "pytest.ini").write_text(f"[pytest]\naddopts = {PLUGINS}\n")
    for number in range(max(0, files - 3)):
        package = folder / f"package_{number // 100:03}"
        package.mkdir(exist_ok=True)
        body = "".join(f"VALUE_{i} = {number * i}\n" for i in range(40))
        (package / f"module_{number:05}.py").write_text(body)
    return folder


async def figures(
    rounds: int, work: Callable[[], Awaitable[object]], end: Callable[[], Awaitable[object]]
) -> tuple[float, float]:
    """Wall-clock seconds, the median, and processor seconds, the mean, of some rounds of `work`."""
    wall: list[float] = []
    used = cpu_s()
    for _ in range(rounds):
        started = time.perf_counter()
        await work()
        wall.append(time.perf_counter() - started)
    await end()  # only then is the children's time counted
    return statistics.median(wall), (cpu_s() - used) / rounds


def snapshot_figures(
    project: Path, run_dir: Path, hasher: TreeHasher, rounds: int
) -> dict[str, tuple[float, float]]:
    """Of a snapshot after an evaluation has walked through the tree, of one that walks itself, and
    of what git alone would do, one file changed before each."""
    snapshots, numbers = Snapshots(run_dir, project), iter(range(10_000))
    snapshots.take(next(numbers))
    store = {"GIT_DIR": str(run_dir / "bare"), "GIT_WORK_TREE": str(project)}
    env = os.environ | store
    subprocess.run(["git", "init", "-q", "--bare", store["GIT_DIR"]], check=True)

    def bare() -> None:
        command = "git add -A && git write-tree"
        subprocess.run(command, shell=True, env=env, cwd=project, check=True, capture_output=True)

    def measured(work: Callable[[], object]) -> tuple[float, float]:
        began, used = time.perf_counter(), cpu_s()
        work()
        return time.perf_counter() - began, cpu_s() - used

    bare()
    time.sleep(2.1)  # files that have just been written are read again, in a real project once
    snapshots.take(next(numbers))
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(2 * rounds):
        number = next(numbers)
        (project / "thing.py").write_text(f"def add(a, b):\n    return a + b  # {number}\n")
        seen = hasher.state().listing
        for name, work in {
            "a snapshot": lambda number=number, seen=seen: snapshots.take(number, seen),
            "one that walks by itself": lambda number=number: snapshots.take(number),
            "`git add` and `git write-tree`": bare,
        }.items():
            found.setdefault(name, []).append(measured(work))
    return {
        name: (statistics.median(w for w, _ in each), statistics.median(c for _, c in each))
        for name, each in found.items()
    }


def cpu_s() -> float:
    each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in each)


class Bench:
    """One project, and each kind of work that is measured on it.

    Args:
        project: the project's folder.
        room: where the run's own files and the copies go.
    """

    def __init__(self, project: Path, room: Path) -> None:
        self.project = project
        self.room = room
        run_dir = room / f"{project.name}-run"
        run_dir.mkdir()
        workspace = SafeWorkspace(project)
        self.context = RunContext("bench", project, workspace, sys.executable, run_dir)
        self.hasher = TreeHasher(project)

    def start(self) -> Guard:
        """A guard of the project, with a sandbox and a goal of its own."""
        sandbox = LocalSandbox(ProcessOptions(), self.context)
        self.context.sandbox_part = guarded_sandbox(sandbox)
        self.context.goal_part = PytestGoal(PytestGoalOptions(), self.context)
        return Guard(self.context, [])

    async def end(self) -> None:
        """Close what `start` opened."""
        if self.context.sandbox_part is not None:
            await self.context.sandbox_part.aclose()
            self.context.sandbox_part = None

    async def begin(self) -> None:
        """What a run does once: the baseline, and a first look at every file."""
        await self.start().take_baseline()
        await self.end()
        self.hasher.state()

    async def plain(self) -> None:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        await asyncio.to_thread(
            subprocess.run, command, cwd=self.project, check=True, capture_output=True
        )

    def checking(self) -> Callable[[], Awaitable[None]]:
        guard = self.start()

        async def check() -> None:
            await guard.restore()
            await asyncio.to_thread(self.hasher.state)
            result = await guard.check({})
            assert result.achieved, result.reason
            await asyncio.to_thread(self.hasher.state)

        return check

    def finals(self, *, contradict: bool) -> Callable[[], Awaitable[None]]:
        guard = self.start()

        async def final() -> None:
            result, suspect = await final_check(guard, {}, contradict=contradict)
            assert (result.achieved, suspect) == (True, ""), (result.reason, suspect)

        return final

    def copies(self, *, link_packages: bool) -> Callable[[], Awaitable[None]]:
        def make() -> None:
            with tempfile.TemporaryDirectory(dir=self.room) as folder:
                make_clean_copy(self.project, Path(folder) / "copy", link_packages=link_packages)

        return lambda: asyncio.to_thread(make)


async def measure(project: Path, room: Path, rounds: int) -> float:
    """Print the figures of one project; the CPU seconds of a snapshot."""
    bench = Bench(project, room)
    await bench.begin()
    rows = {
        "plain pytest": await figures(rounds, bench.plain, bench.end),
        "a check of a run": await figures(rounds, bench.checking(), bench.end),
        "final verification, no contradictions": await figures(
            rounds, bench.finals(contradict=False), bench.end
        ),
        "final verification": await figures(rounds, bench.finals(contradict=True), bench.end),
        "of it the clean copy": await figures(rounds, bench.copies(link_packages=True), bench.end),
        "a copy with packages": await figures(rounds, bench.copies(link_packages=False), bench.end),
        **snapshot_figures(project, bench.context.run_dir, bench.hasher, rounds),
    }
    show(sum(len(names) for _, _, names in os.walk(project)), rows)
    return rows["a snapshot"][1]


def show(files: int, rows: Mapping[str, tuple[float, float]]) -> None:
    """Print wall-clock and processor time of each work, and their ratios to plain pytest."""
    base_wall, base_cpu = rows["plain pytest"]
    print(f"\n{files} files{'':22} | wall ms | CPU ms | wall ratio | CPU ratio")
    for name, (wall, cpu) in rows.items():
        ratios = f"{wall / base_wall:10.2f} | {cpu / base_cpu:9.2f}"
        print(f"{name:32} | {wall * 1000:7.0f} | {cpu * 1000:6.0f} | {ratios}", flush=True)


async def measured(given: argparse.Namespace, room: Path) -> float:
    await measure(make_project(room / "small", 3), room, given.rounds)
    large = make_project(room / "large", given.files, given.packages)
    return await measure(large, room, given.rounds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=positive, default=7)
    parser.add_argument("--files", type=positive, default=5000)
    parser.add_argument("--packages", type=int, default=0, metavar="N", help="files of packages")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="retrai-guarding-") as name:
        used = asyncio.run(measured(given, Path(os.path.realpath(name))))
    print(f"\na snapshot of the large project: {used * 1000:.0f} ms CPU, bound 50 ms")
    return 0 if used <= SNAPSHOT_BOUND_S else 1


if __name__ == "__main__":
    sys.exit(main())
