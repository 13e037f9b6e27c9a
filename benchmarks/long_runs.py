"""What a run of 1,000 iterations with 8 kB tool results costs: CPU, disk, memory, a resume.

    python benchmarks/long_runs.py [--iterations 1000] [--changing] [--json]

Drives the real goal loop through `RunManager`, every step durable, with a goal that never passes, a
model that calls one tool an iteration, and a tool that gives back 8,000 characters of text that
hardly compresses. They are plugins of a distribution that this script puts on the path. One call
in 25 also writes a file (a run that changes nothing ends as stuck); with `--changing` each one
does, so that every iteration checks again and takes a snapshot. CPU is that of this process and of
the processes it waited for, read when an iteration is complete. Only ratios mean anything on
another machine. Exits 1 when an aim is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

from counts import positive
from long_run_plugins import RESULT_CHARS

CPU_AIM = 1.4
"""CPU per iteration at the end, beside that around iteration 50."""

BYTES_AIM = 3.0
"""Checkpoint bytes beside the bytes of the tool results."""

PLUGINS = Path(__file__).resolve().parent / "long_run_plugins"
EARLY = 50
HALF_WINDOW = 20

ENTRY_POINTS = """[retrai.goals]
never = long_run_plugins:Never
[retrai.tools]
emit = long_run_plugins:Emit
[retrai.llms]
calling = long_run_plugins:Calling
"""

METADATA = """Metadata-Version: 2.1
Name: long-run-plugins
Version: 1.0
Requires-Dist: retrai-core>=0.1
"""


@dataclass
class Figures:
    """What was measured; CPU in milliseconds an iteration."""

    iterations: int
    changing: bool
    cpu_ms_around: dict[int, float]
    cpu_ratio: float
    wall_s: float
    checkpoint_bytes: int
    result_bytes: int
    bytes_ratio: float
    run_folder_bytes: int
    peak_memory_mib: float
    resume_s: float
    resume_cpu_s: float

    @property
    def holds(self) -> bool:
        """Whether the aims are met."""
        return self.cpu_ratio <= CPU_AIM and self.bytes_ratio <= BYTES_AIM


def main() -> int:
    """Measure and print; the exit code."""
    parser = argparse.ArgumentParser(description="A long run's cost, early and late.")
    parser.add_argument("--iterations", type=positive, default=1000)
    parser.add_argument("--changing", action="store_true", help="each call writes a file")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--keep", type=Path, help="keep the run's folders here")
    parser.add_argument("--resume", nargs=2, metavar=("STATE", "RUN"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.resume:
        state, run_id = options.resume
        print(json.dumps(asyncio.run(resume(Path(state), run_id, options.iterations))))
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        install(folder)
        figures = asyncio.run(measure(folder, options.iterations, options.changing))
    print(json.dumps(asdict(figures), indent=2) if options.json else table(figures))
    return 0 if figures.holds else 1


def install(folder: Path) -> None:
    """Put the plugins on the path of this process and of its children, and make a project."""
    site = folder / "site"
    dist = site / "long_run_plugins-1.0.dist-info"
    dist.mkdir(parents=True)
    shutil.copytree(PLUGINS, site / PLUGINS.name, ignore=shutil.ignore_patterns("__pycache__"))
    (dist / "METADATA").write_text(METADATA)
    (dist / "entry_points.txt").write_text(ENTRY_POINTS)
    sys.path.insert(0, str(site))
    os.environ["PYTHONPATH"] = str(site)
    project = folder / "project"
    for number in range(100):
        path = project / f"package{number % 10}" / f"module{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"VALUE = {number}\n" * 50)


async def measure(folder: Path, iterations: int, changing: bool) -> Figures:
    """One run to its end, then a resume of it in a fresh process."""
    from retrai_core import FilesStore, RunConfig, RunManager, RunRequest

    config = RunConfig(
        cwd=folder / "project",
        goal="never",
        model="writing" if changing else "calling",
        memory="none",
        sandbox="local",
        python=sys.executable,
        max_iterations=iterations,
    )
    store = FilesStore(state=folder / "state")
    async with RunManager(store, "inline") as manager:
        started = time.monotonic()
        run = await manager.submit(RunRequest(config=config))
        marks = [cpu_s() async for event in run.events() if event.kind == "iteration_complete"]
        record = await run.result()
        wall_s = time.monotonic() - started
    if record.status != "failed" or record.iterations != iterations:
        raise SystemExit(f"the run ended {record.status}: {record.reason}")
    run_folder = store.folder(record.id)
    around = {centre: round(1000 * cpu_around(marks, centre), 3) for centre in windows(iterations)}
    last = max(around)
    checkpoint_bytes = size(run_folder.glob("checkpoint.sqlite*"))
    result_bytes = RESULT_CHARS * iterations
    resumed = resume_in_fresh_process(folder / "state", record.id, iterations + 1)
    return Figures(
        iterations=iterations,
        changing=changing,
        cpu_ms_around=around,
        cpu_ratio=round(around[last] / around[min(around)], 3),
        wall_s=round(wall_s, 1),
        checkpoint_bytes=checkpoint_bytes,
        result_bytes=result_bytes,
        bytes_ratio=round(checkpoint_bytes / result_bytes, 2),
        run_folder_bytes=size(run_folder.rglob("*")),
        peak_memory_mib=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        resume_s=resumed["wall_s"],
        resume_cpu_s=resumed["cpu_s"],
    )


def cpu_s() -> float:
    """CPU seconds of this process, all its threads, and the children it has reaped."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def windows(iterations: int) -> list[int]:
    """The iterations around which CPU is averaged: 50, some between, the last."""
    inner = [at for at in (100, 250, 500, 750) if at + HALF_WINDOW < iterations - HALF_WINDOW]
    return [EARLY, *inner, iterations - HALF_WINDOW]


def cpu_around(marks: Sequence[float], centre: int) -> float:
    """Median CPU seconds an iteration within 20 of `centre`; a median, since others work here."""
    part = marks[centre - HALF_WINDOW - 1 : centre + HALF_WINDOW]
    return statistics.median(after - before for before, after in pairwise(part))


def size(paths: object) -> int:
    """Bytes of the files among `paths`."""
    assert hasattr(paths, "__iter__")
    return sum(path.stat().st_size for path in paths if path.is_file())


def resume_in_fresh_process(state: Path, run_id: str, limit: int) -> dict[str, float]:
    """Resume the run for one more iteration; seconds until its first model call."""
    command = [sys.executable, __file__, "--iterations", str(limit)]
    command += ["--resume", str(state), run_id]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=600)
    return json.loads(done.stdout)


async def resume(state: Path, run_id: str, limit: int) -> dict[str, float]:
    """From `resume` to the first step, the imports left out."""
    import retrai_core.agents.goal_loop.act
    import retrai_core.agents.goal_loop.evaluate
    import retrai_core.agents.goal_loop.plan
    import retrai_core.runs.executor
    import retrai_core.storage.checkpoints  # noqa: F401 - imported so that they are not measured
    from retrai_core import FilesStore, RunManager

    first: list[tuple[float, float]] = []
    async with RunManager(FilesStore(state=state), "inline") as manager:
        wall, cpu = time.monotonic(), cpu_s()
        run = await manager.get(run_id)
        last_seq = (await run.logged())[-1].seq
        await run.resume(max_iterations=limit)
        async for event in run.events(last_seq):
            if event.kind == "step_start" and not first:
                first.append((time.monotonic(), cpu_s()))
        record = await run.result()
    if record.iterations != limit:
        raise SystemExit(f"the resumed run ended {record.status}: {record.reason}")
    return {"wall_s": round(first[0][0] - wall, 2), "cpu_s": round(first[0][1] - cpu, 2)}


def table(figures: Figures) -> str:
    """The figures for people."""
    around = ", ".join(f"{at}: {ms:.1f}" for at, ms in figures.cpu_ms_around.items())
    writing = ", each writing a file" if figures.changing else ""
    cpu = f"{figures.cpu_ratio:.2f}x  {aim(figures.cpu_ratio, CPU_AIM)}"
    stored = f"{figures.bytes_ratio:.2f}x  {aim(figures.bytes_ratio, BYTES_AIM)}"
    resume = f"{figures.resume_s:.2f} s, {figures.resume_cpu_s:.2f} CPU-s"
    return "\n".join(
        [
            f"{figures.iterations} iterations, {RESULT_CHARS} characters each{writing}",
            f"CPU ms an iteration around  {around}",
            f"CPU at the end / at {EARLY}     {cpu}",
            f"checkpoint / results        {stored}, {figures.checkpoint_bytes:,} bytes",
            f"whole run folder            {figures.run_folder_bytes:,} bytes",
            f"peak memory                 {figures.peak_memory_mib:.0f} MiB",
            f"resume to the first step    {resume}",
            f"wall                        {figures.wall_s:.0f} s",
        ]
    )


def aim(figure: float, bound: float) -> str:
    """The aim, and whether it is met."""
    return f"(aim {bound}x: {'ok' if figure <= bound else 'MISSED'})"


if __name__ == "__main__":
    sys.exit(main())
