"""Does the way in which retrai runs pytest change anything? Compares it with the plain command.

    python benchmarks/isolation.py [--sandbox local|bwrap] PYTHON PROJECT [PROJECT ...]

Each PROJECT (an unpacked source distribution, say) is tested three times with PYTHON, which must
have what its tests need (a relative PYTHON, `.venv/bin/python`, is each project's own): by
`PYTHON -m pytest --junitxml=...`, by the goal's check in place, and by the final verification's
on a clean copy. All give outcomes by test, which must be equal. Exits with 1 when they are not.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from retrai_core import CheckReport, GoalResult, ProcessOptions, RunContext, Sandbox
from retrai_core.verification.final_check import check_with
from retrai_core.verification.guard import Guard
from retrai_core.verification.guarded_sandbox import guarded_sandbox
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_goals_python.pytest.goal import PytestGoal, PytestGoalOptions
from retrai_sandbox_bwrap.options import BwrapOptions
from retrai_sandbox_bwrap.sandbox import BwrapSandbox
from retrai_sandbox_local.sandbox import LocalSandbox

TIMEOUT_S = 900
SHOWN = 10
Outcomes = Counter[tuple[str, str]]
# JUnit's report knows fewer outcomes than pytest.
AS_JUNIT = {"xfailed": "skipped", "xpassed": "passed"}


def plain_outcomes(python: str, project: Path) -> tuple[Outcomes, int]:
    """Outcomes by name of the plain command, and its exit status."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [python, "-m", "pytest", f"--junitxml={report}", "-o", "junit_family=xunit2"]
        done = subprocess.run(command, cwd=project, capture_output=True, check=False, text=True)
        if done.returncode == 2:  # a file that cannot be collected stops it; we go on
            command.append("--continue-on-collection-errors")
            done = subprocess.run(command, cwd=project, capture_output=True, check=False, text=True)
        if not report.exists():
            raise SystemExit(f"{project.name}: the plain command gave no report\n{done.stdout}")
        root = ET.parse(report).getroot()
    found: Outcomes = Counter()
    for case in root.iter("testcase"):
        kinds = {child.tag for child in case}
        named = {"failure": "failed", "error": "error", "skipped": "skipped"}
        outcome = next((named[kind] for kind in named if kind in kinds), "passed")
        found[f"{case.get('classname')}::{case.get('name')}", outcome] += 1
    return found, done.returncode


def as_junit(cases: Mapping[str, str]) -> Outcomes:
    """The same of ours, with names as JUnit's report writes them."""
    found: Outcomes = Counter()
    for name, outcome in cases.items():
        path, _, rest = name.partition("::")
        parts = rest.split("[", 1)[0].split("::")
        last = rest[len("::".join(parts[:-1])) + 2 * (len(parts) > 1) :]
        module = path.removesuffix(".py").replace("/", ".")
        classname = ".".join([module, *parts[:-1]]) if rest else ""
        found[f"{classname}::{last or module}", AS_JUNIT.get(outcome, outcome)] += 1
    return found


async def guarded(python: str, project: Path, walls: bool) -> tuple[GoalResult, GoalResult]:
    """What the goal says of the project in place, and of a clean copy of it."""
    with tempfile.TemporaryDirectory(prefix="retrai-isolation-") as folder:
        room = Path(folder)
        context = RunContext("isolation", project, SafeWorkspace(project), python, room)
        sandbox: Sandbox = LocalSandbox(ProcessOptions(), context)
        if walls:
            sandbox = BwrapSandbox(BwrapOptions(), context)
            if problem := await sandbox.probe():
                raise SystemExit(f"{project.name}: no bwrap: {problem}")
        context.sandbox_part = guarded_sandbox(sandbox)
        context.goal_part = PytestGoal(PytestGoalOptions(timeout_s=TIMEOUT_S), context)
        try:
            guard = Guard(context, [])
            in_place = await guard.take_baseline()
            return in_place, await check_with(guard, {}, lambda _: None)
        finally:
            await sandbox.aclose()


def is_equal(how: str, plain: Outcomes, result: GoalResult) -> bool:
    """Whether one way of ours gave what the plain command gave; what differs is printed."""
    report = result.report or CheckReport({}, (), "")
    ours = as_junit(report.cases)
    # Escapes that XML cannot hold are written differently; the counts must still be equal.
    same = plain == ours or outcome_counts(plain) == outcome_counts(ours)
    verdict = "equal" if plain == ours else "equal counts" if same else "DIFFERENT"
    print(f"    {how:13} {verdict:13} {result.reason}", flush=True)
    for sign, names in (("plain", plain - ours), ("ours", ours - plain)):
        for name, outcome in sorted(names.keys())[:SHOWN]:
            print(f"        only {sign}: {outcome} {name}")
    return same and report.complete


def outcome_counts(found: Outcomes) -> Counter[str]:
    counts: Counter[str] = Counter()
    for (_, outcome), number in found.items():
        counts[outcome] += number
    return counts


async def compare(python: str, project: Path, walls: bool) -> bool:
    # Not resolved: a virtual environment's interpreter is a link.
    program = os.path.join(project, python) if os.sep in python else python
    plain, status = plain_outcomes(program, project)
    counted = ", ".join(f"{number} {name}" for name, number in outcome_counts(plain).items())
    print(f"{project.name}: exit {status}, {counted}", flush=True)
    in_place, on_copy = await guarded(program, project, walls)
    return all([is_equal("in place", plain, in_place), is_equal("clean copy", plain, on_copy)])


async def main(python: str, projects: list[Path], walls: bool) -> int:
    results = [await compare(python, project, walls) for project in projects]
    print(f"{sum(results)} of {len(results)} equal")
    return 0 if all(results) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sandbox", choices=("local", "bwrap"), default="bwrap")
    parser.add_argument("python")
    parser.add_argument("projects", nargs="+")
    given = parser.parse_args()
    projects = [Path(name).resolve() for name in given.projects]
    sys.exit(asyncio.run(main(given.python, projects, given.sandbox == "bwrap")))
