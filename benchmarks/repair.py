"""How many real bugs `retrai run --model offline` fixes, and at what cost.

    python benchmarks/repair.py [--limit N] [--only ID ...] [--jobs 2] [--visible]
                                [--json FILE] [--data FILE]

Makes a project of each bug of HumanEvalFix (a module and its tests), runs the whole command on it
as a user would, and prints a line for each: the outcome, processor seconds of the command and all
its children (user and system, as `wait4` counts them), iterations, and the edit. With `--visible`
the project gets only the examples of the docstring as tests, and all tests judge the result
afterwards: how often an edit that passes the tests it was given is not the right one.

The data is read from `../shared/data` beside the repository; without it there is nothing to do.
Exits 1 when fewer bugs are fixed than `--at-least` says.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from counts import positive

REPOSITORY = Path(__file__).resolve().parents[1]
DATA = REPOSITORY.parent / "shared" / "data" / "humanevalfix" / "dev.jsonl"
LIMIT_CPU_S = 30.0
TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Bug:
    """One bug: a module, all its tests, and the examples of its docstring."""

    id: str
    solution: str
    full: str
    visible: str


@dataclass(frozen=True)
class Result:
    """What one run came to.

    `right` is None where nothing but the given tests judges the result.
    """

    id: str
    outcome: str
    cpu_s: float
    wall_s: float
    iterations: int
    right: bool | None
    change: str

    @property
    def solved(self) -> bool:
        """Whether the run ended achieved."""
        return self.outcome == "achieved"


def main() -> int:
    """Run and print; the exit code."""
    options = parse_arguments()
    if not options.data.is_file():
        print(f"skipped: there is no {options.data.name} in {options.data.parent}")
        return 0
    bugs = [bug for bug in read_bugs(options.data) if not options.only or bug.id in options.only]
    if options.visible:
        bugs = [bug for bug in bugs if bug.visible]
    bugs = bugs[: options.limit]
    lock = threading.Lock()

    def run(bug: Bug) -> Result:
        result = fix(bug, visible=options.visible)
        with lock:
            print(line(result), flush=True)
        return result

    print(f"{'id':<5} {'outcome':<10} {'CPU s':>6} {'wall s':>7} {'turns':>5}  change", flush=True)
    with ThreadPoolExecutor(max_workers=options.jobs) as pool:
        results = list(pool.map(run, bugs))
    print(summary(results, visible=options.visible))
    if options.json:
        options.json.write_text(json.dumps([asdict(r) for r in results], indent=1) + "\n", "utf-8")
    return 0 if sum(result.solved for result in results) >= options.at_least else 1


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Fix real bugs with the model `offline`.")
    parser.add_argument("--limit", type=positive, help="only the first so many bugs")
    parser.add_argument("--only", nargs="*", default=[], help="only the bugs with these ids")
    parser.add_argument("--jobs", type=positive, default=2, help="runs side by side")
    parser.add_argument("--visible", action="store_true", help="fix with the examples alone")
    parser.add_argument("--json", type=Path, help="write the results there too")
    parser.add_argument("--data", type=Path, default=DATA, help="the bugs, a JSON object a line")
    parser.add_argument("--at-least", type=int, default=0, help="fail when fewer are fixed")
    return parser.parse_args()


def read_bugs(path: Path) -> Iterator[Bug]:
    """The bugs of a data file."""
    for text in path.read_text("utf-8").splitlines():
        row = json.loads(text)
        yield Bug(
            row["id"], row["solution.py"], row["test_full.py"], row.get("test_visible.py") or ""
        )


def fix(bug: Bug, *, visible: bool) -> Result:
    """One whole run in a fresh project with a state folder of its own."""
    with tempfile.TemporaryDirectory(prefix="retrai-repair-") as name:
        project = Path(name) / "project"
        project.mkdir()
        (project / "solution.py").write_text(bug.solution, "utf-8")
        (project / "test_solution.py").write_text(bug.visible if visible else bug.full, "utf-8")
        command = [sys.executable, "-m", "retrai_core", "run", "pytest", "-C", str(project)]
        command += ["-m", "offline", "--json"]
        started = time.monotonic()
        stdout, cpu_s = run_measured(command, Path(name))
        wall_s = time.monotonic() - started
        try:
            record = json.loads(stdout)
        except ValueError:
            record = {"status": "crashed"}
            lines = (Path(name) / "stderr").read_text("utf-8", "replace").splitlines()
            print(f"{bug.id}: {lines[-1] if lines else 'no output'}", file=sys.stderr)
        after = (project / "solution.py").read_text("utf-8")
        right = passes(project, bug.full) if visible and record["status"] == "achieved" else None
        return Result(
            id=bug.id,
            outcome=record["status"],
            cpu_s=round(cpu_s, 2),
            wall_s=round(wall_s, 2),
            iterations=int(record.get("iterations", 0)),
            right=right,
            change=changed(bug.solution, after),
        )


def run_measured(command: Sequence[str], home: Path) -> tuple[str, float]:
    """The standard output of a command, and the processor seconds of its whole tree.

    `wait4` counts the children that the command waited for. retrai reaps every process that it
    starts, so nothing is missing.
    """
    environment = {**os.environ, "XDG_STATE_HOME": str(home / "state"), "NO_COLOR": "1"}
    environment["RETRAI_STATE_DIR"] = str(home / "state")
    with (home / "stdout").open("w+b") as stdout, (home / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            command, stdout=stdout, stderr=stderr, stdin=subprocess.DEVNULL, env=environment
        )
        timer = threading.Timer(TIMEOUT_S, process.terminate)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        stdout.seek(0)
        return stdout.read().decode("utf-8", "replace"), usage.ru_utime + usage.ru_stime


def passes(project: Path, tests: str) -> bool:
    """Whether the fixed module passes all tests."""
    shutil.rmtree(project / "__pycache__", ignore_errors=True)
    (project / "test_solution.py").write_text(tests, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=project, capture_output=True, timeout=120, check=False)
    return done.returncode == 0


def changed(before: str, after: str) -> str:
    """The lines that are new, on one line."""
    old = before.splitlines()
    new = [text.strip() for text in after.splitlines() if text not in old]
    return " | ".join(new) or ("a line left out" if before != after else "")


def line(result: Result) -> str:
    """One line of the table."""
    mark = {None: "", True: " (right)", False: " (WRONG)"}[result.right]
    return (
        f"{result.id:<5} {result.outcome:<10} {result.cpu_s:>6.1f} {result.wall_s:>7.1f} "
        f"{result.iterations:>5}  {result.change[:70]}{mark}"
    )


def summary(results: Sequence[Result], *, visible: bool) -> str:
    """The last lines."""
    if not results:
        return "no bug was chosen"
    cpu = [result.cpu_s for result in results]
    solved = [result for result in results if result.solved]
    within = sum(result.cpu_s <= LIMIT_CPU_S for result in solved)
    turns = [result.iterations for result in solved] or [0]
    text = (
        f"\nsolved {len(solved)} of {len(results)}, {within} of them within {LIMIT_CPU_S:g} CPU s; "
        f"CPU s: median {statistics.median(cpu):.1f}, worst {max(cpu):.1f}; "
        f"iterations: median {statistics.median(turns):g}, most {max(turns)}"
    )
    if visible:
        right = sum(bool(result.right) for result in results)
        text += f"\nof those solved with the examples alone, {right} pass all tests"
    return text


if __name__ == "__main__":
    sys.exit(main())
