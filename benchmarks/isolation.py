"""Does the way in which retrai runs pytest change anything? Compares it with the plain command.

    python benchmarks/isolation.py PYTHON PROJECT [PROJECT ...]

Each PROJECT (an unpacked source distribution, say) is tested twice with PYTHON, which must have
what its tests need: by `PYTHON -m pytest --junitxml=...`, and by `retrai_goals_python.runner`. Both
give outcomes by test; the two must be equal. Exits with 1 when they are not.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

from retrai_core import RunContext
from retrai_core.sandbox.local import LocalOptions, LocalSandbox
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_goals_python.runner import PytestRun, run_pytest

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


def our_outcomes(run: PytestRun) -> Outcomes:
    """The same of ours, with names as JUnit's report writes them."""
    found: Outcomes = Counter()
    for name, outcome in run.cases.items():
        path, _, rest = name.partition("::")
        parts = rest.split("[", 1)[0].split("::")
        last = rest[len("::".join(parts[:-1])) + 2 * (len(parts) > 1) :]
        module = path.removesuffix(".py").replace("/", ".")
        classname = ".".join([module, *parts[:-1]]) if rest else ""
        found[f"{classname}::{last or module}", AS_JUNIT.get(outcome, outcome)] += 1
    return found


async def compare(python: str, project: Path) -> bool:
    context = RunContext("isolation", project, SafeWorkspace(project), python, project)
    sandbox = LocalSandbox(LocalOptions(), context)
    plain, status = plain_outcomes(python, project)
    before = cpu_s()
    run = await run_pytest(sandbox, python, project, timeout_s=900)
    await sandbox.aclose()
    ours = our_outcomes(run)
    # Escapes that XML cannot hold are written differently; the counts must still be equal.
    same = plain == ours or outcome_counts(plain) == outcome_counts(ours)
    verdict = "equal" if plain == ours else "equal counts" if same else "DIFFERENT"
    print(
        f"{project.name:28} {run.pytest_version:8} {sum(plain.values()):6} cases  {verdict:13} "
        f"exit {status} and {run.exit_status}  {run.counts()}  {cpu_s() - before:.1f} CPU-s",
        flush=True,
    )
    for name, outcome in sorted((plain - ours).keys())[:10]:
        print(f"    only plain: {outcome} {name}")
    for name, outcome in sorted((ours - plain).keys())[:10]:
        print(f"    only ours:  {outcome} {name}")
    if not run.complete:
        print(f"    {run.problem}")
    return same and run.complete


def outcome_counts(found: Outcomes) -> Counter[str]:
    counts: Counter[str] = Counter()
    for (_, outcome), number in found.items():
        counts[outcome] += number
    return counts


def cpu_s() -> float:
    times = os.times()
    return times.children_user + times.children_system


async def main(python: str, projects: list[Path]) -> int:
    results = [await compare(python, project.resolve()) for project in projects]
    print(f"{sum(results)} of {len(results)} equal")
    return 0 if all(results) else 1


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(asyncio.run(main(sys.argv[1], [Path(name) for name in sys.argv[2:]])))
