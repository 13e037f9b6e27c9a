"""What walls cost: one command under bubblewrap beside the same one in `local`.

    python benchmarks/sandbox.py [--rounds N]

Told are milliseconds of processor time of all processes, retrai's own among them, which a loaded
machine changes little, and of the clock, which it changes much; the ratio says more than both. The
sandboxes take turns. Exits with 1 where bubblewrap does not work.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from counts import positive

from retrai_core import ProcessOptions, RunContext, Sandbox, View
from retrai_core.verification.guarded_sandbox import guarded_sandbox
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_sandbox_bwrap.options import BwrapOptions
from retrai_sandbox_bwrap.sandbox import BwrapSandbox
from retrai_sandbox_local.sandbox import LocalSandbox

PROTECTED = 48
BATCHES = 5
KINDS = ("local", "bwrap", f"bwrap, {PROTECTED} protected files")


@dataclass
class Taken:
    """Milliseconds of one command, batch by batch."""

    cpu_ms: list[float] = field(default_factory=list[float])
    clock_ms: list[float] = field(default_factory=list[float])


def cpu_s() -> float:
    """Processor seconds of this process and of all that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def build(kind: str, context: RunContext) -> Sandbox:
    """A sandbox of one kind."""
    if kind == "local":
        return LocalSandbox(ProcessOptions(), context)
    sandbox = guarded_sandbox(BwrapSandbox(BwrapOptions(), context))
    if kind != "bwrap":
        files = frozenset(context.project / f"test_{number}.py" for number in range(PROTECTED))
        sandbox.agent_view = View(read_only=files, scratch="agent")
    return sandbox


async def batch(kind: str, context: RunContext, command: list[str], rounds: int) -> float:
    """Processor seconds of `rounds` commands, with all that starting and ending them takes."""
    started = cpu_s()
    sandbox = build(kind, context)
    try:
        for _ in range(rounds):
            done = await sandbox.run(command, timeout_s=60)
            if done.exit_code != 0:
                raise SystemExit(f"{command} failed: {done.stderr}")
    finally:
        await sandbox.aclose()
    return cpu_s() - started


async def measure(context: RunContext, rounds: int) -> int:
    """Print a line for each command and kind."""
    sandbox = BwrapSandbox(BwrapOptions(), context)
    problem = await sandbox.probe()
    await sandbox.aclose()
    if problem is not None:
        print(f"bwrap does not work here: {problem}")
        return 1
    for command in (["true"], [sys.executable, "-S", "-c", ""]):
        taken = {kind: Taken() for kind in KINDS}
        for _ in range(BATCHES):
            for kind in KINDS:
                begun = time.perf_counter()
                # The first commands start a helper process and look at the machine; not counted.
                less = await batch(kind, context, command, 3)
                middle = time.perf_counter()
                more = await batch(kind, context, command, rounds + 3)
                end = time.perf_counter()
                taken[kind].cpu_ms.append((more - less) * 1000 / rounds)
                taken[kind].clock_ms.append((end - middle - (middle - begun)) * 1000 / rounds)
        tell(Path(command[0]).name, taken)
    return 0


def tell(command: str, taken: dict[str, Taken]) -> None:
    """Print the medians and their ratio to those of `local`."""
    base = statistics.median(taken["local"].cpu_ms)
    for kind, one in taken.items():
        cpu, clock = statistics.median(one.cpu_ms), statistics.median(one.clock_ms)
        print(
            f"{command:<8} {kind:<28} cpu {cpu:6.1f} ms  {cpu / base:4.1f}x {cpu - base:+6.1f} ms"
            f"   clock {clock:6.1f} ms"
        )


def main() -> int:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=positive, default=20)
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder).resolve() / "project"
        project.mkdir()
        for number in range(PROTECTED):
            (project / f"test_{number}.py").touch()
        run_dir = project.parent / "run"
        context = RunContext("r1", project, SafeWorkspace(project), sys.executable, run_dir)
        return asyncio.run(measure(context, parser.parse_args().rounds))


if __name__ == "__main__":
    sys.exit(main())
