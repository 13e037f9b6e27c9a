"""Seconds from `submit` to a run's first check and to its model's first answer, by engine.

    python benchmarks/process_engine.py [--rounds 9]

Each run is in a project of its own, with the kit's goal `expected-files` and its model `scripted`,
which both take no time of their own; the engines take turns, so that a busy machine slows all of
them alike. `process` is measured with a spare child that has finished its imports (warm), as after
a manager's `attach`, and with one that has just been started (cold). Exits 1 where the median of
the warm one is above its bound.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil
from counts import positive

from retrai_core import FilesStore, RunConfig, RunManager, RunRequest
from retrai_testkit import ScriptedModel, call

BOUND_S = 0.5
ENGINES = ("inline", "process, warm", "process, cold")
SHOWN = {"goal_check": "first check", "llm_usage": "first answer"}
_REST_S = 0.3


async def measure(base: Path, engine: str) -> dict[str, float]:
    """Work through one run; seconds from `submit` to the first event of each shown kind."""
    name, _, state = engine.partition(", ")
    project = base / "project"
    project.mkdir(parents=True)
    (project / "a.txt").write_text("wrong")
    script = ScriptedModel().play(call("put_file", path="a.txt", text="right"))
    config = RunConfig(
        cwd=project,
        goal="expected-files",
        options={"files": {"a.txt": "right"}},
        python=sys.executable,
        sandbox="local",
        memory="none",
        **script.settings,
    )
    async with RunManager(FilesStore(state=base / "state"), name) as manager:
        request = await RunRequest(config=config).completed(base, print)
        if state != "cold":
            await manager.attach()  # opens the engine
            await asyncio.to_thread(wait_for_rest)
        began = time.time()
        run = await manager.submit(request)
        record = await run.result()
        events = await run.logged()
    if record.status != "achieved":
        raise SystemExit(f"the run ended as {record.status}: {record.reason}")
    return {kind: min(event.ts for event in events if event.kind == kind) - began for kind in SHOWN}


def wait_for_rest() -> None:
    """Wait until no child of this process uses the processor."""
    used = -1.0
    while used != (used := sum(sum(c.cpu_times()[:2]) for c in psutil.Process().children())):
        time.sleep(_REST_S)


def main() -> int:
    """Measure and print; the exit code."""
    parser = argparse.ArgumentParser(description="From submit to the first check, by engine.")
    parser.add_argument("--rounds", type=positive, default=9)
    rounds = parser.parse_args().rounds
    # Where no byte code may be written, every child would compile our sources again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    taken: dict[str, list[dict[str, float]]] = {engine: [] for engine in ENGINES}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CONFIG_HOME"] = folder  # without the user's own settings
        for number in range(rounds + 1):
            for engine, found in taken.items():
                found.append(asyncio.run(measure(Path(folder, str(number), engine), engine)))
    for found in taken.values():
        del found[0]  # it wrote the byte code and warmed the disk's cache
    print(f"{'seconds, medians (least, most)':32}" + "".join(f"{it:>24}" for it in SHOWN.values()))
    for engine, found in taken.items():
        cells = [sorted(each[kind] for each in found) for kind in SHOWN]
        shown = [f"{statistics.median(c):.3f} ({c[0]:.3f}, {c[-1]:.3f})" for c in cells]
        print(f"{engine:32}" + "".join(f"{it:>24}" for it in shown))
    median = statistics.median(each["goal_check"] for each in taken["process, warm"])
    print(f"process, warm: {median:.3f} s, at most {BOUND_S:g}")
    return int(median > BOUND_S)


if __name__ == "__main__":
    sys.exit(main())
