"""For each goal a pair of whole runs: one that fixes the example, and a twin that fixes nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from ..goal_bench import EXAMPLES, Run
from .conftest import needs_cargo, needs_cc, needs_go, needs_make

LOOK = ("file_list", {"path": "."})


def patch(path: str, old: str, new: str) -> tuple[str, dict[str, Any]]:
    return "file_patch", {"path": path, "old": old, "new": new}


PAIRS = {
    "cargo-test": (
        [
            patch("src/lib.rs", "(parcel.grams / 1000)", "parcel.grams.div_ceil(1000)"),
            patch(
                "src/label.rs",
                "        .collect",
                "        .filter(|line| !line.is_empty())\n        .collect",
            ),
        ],
        {},
    ),
    "go-test": (
        [
            patch("ledger.go", "sum = entry.Cents", "sum += entry.Cents"),
            patch(
                "ledger.go",
                "\t\t\tnames = ",
                "\t\t\tseen[entry.Account] = true\n\t\t\tnames = ",
            ),
            patch("text/text.go", "%s%d.%d", "%s%d.%02d"),
        ],
        {},
    ),
    "make-test": (
        [
            patch("src/roman.c", '{10, "X"},', '{40, "XL"}, {10, "X"},'),
            patch("src/roman.c", "used + length > size", "used + length + 1 > size"),
        ],
        {},
    ),
    "shell-goal": (
        [
            patch("pages/index.md", "(a-tour.md)", "(tour.md)"),
            patch("pages/install.md", "(home.md)", "(index.md)"),
        ],
        {},
    ),
    "perf-check": (
        [
            patch(
                "pairs.py",
                """        for second in numbers[index + 1 :]:
            if first + second == target:
                found += 1
""",
                """        found += seen[target - first]
        seen[first] += 1
""",
            ),
            patch(
                "pairs.py",
                "    for index, first in enumerate(numbers):",
                "    seen = Counter()\n    for first in numbers:",
            ),
            patch("pairs.py", "import sys\n", "import sys\nfrom collections import Counter\n"),
        ],
        {"repeats": 1, "runs": 2},
    ),
}
MARKS = {
    "cargo-test": [needs_cargo],
    "go-test": [needs_go],
    "make-test": [needs_make, needs_cc],
    "shell-goal": [],
    "perf-check": [],
}
GOALS = [pytest.param(name, marks=MARKS[name]) for name in PAIRS]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "project"


@pytest.mark.parametrize("goal", GOALS)
def test_a_trajectory_that_mends_the_example_is_achieved(
    goal: str, project: Path, run_goal: Run
) -> None:
    shutil.copytree(EXAMPLES / goal, project)
    calls, options = PAIRS[goal]
    ended = run_goal(goal, project, *calls, **options)
    assert ended.outcome == (0, "achieved"), ended.progress
    assert ended.record["reason"]


@pytest.mark.parametrize("goal", GOALS)
def test_its_twin_that_mends_nothing_has_failed(goal: str, project: Path, run_goal: Run) -> None:
    shutil.copytree(EXAMPLES / goal, project)
    _, options = PAIRS[goal]
    ended = run_goal(goal, project, LOOK, LOOK, **options)
    assert ended.outcome == (1, "failed"), ended.progress
