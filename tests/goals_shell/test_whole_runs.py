"""For each goal a pair of whole runs: one that fixes the example, and a twin that fixes nothing."""

from __future__ import annotations

import shutil
import subprocess
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


@needs_go
def test_a_new_test_file_may_not_change_what_the_others_see(project: Path, run_goal: Run) -> None:
    shutil.copytree(EXAMPLES / "go-test", project)
    calls, options = PAIRS["go-test"]
    cheat = patch("ledger.go", "sum = entry.Cents", "sum = add(sum, entry.Cents)")
    helper = "package ledger\n\nvar add = func(a, b int) int { return b }\n"
    start = "package ledger\n\nfunc init() { add = func(a, b int) int { return a + b } }\n"
    files = [
        ("file_write", {"path": name, "content": text})
        for name, text in (("add.go", helper), ("add_test.go", start))
    ]
    ended = run_goal("go-test", project, *files, cheat, *calls[1:], **options)
    assert ended.outcome == (1, "failed"), ended.progress
    assert "it does not pass without the new add_test.go" in ended.record["reason"]


@needs_make
@needs_cc
def test_a_test_program_that_is_built_again_is_no_finding(project: Path, run_goal: Run) -> None:
    project.mkdir()
    for name, text in {
        "Makefile": "test: tests/add\n\t./tests/add\ntests/add: tests/add.c add.c\n\tcc -o $@ $^\n",
        "add.c": "int add(int a, int b) { return a - b; }\n",
        "tests/add.c": "int add(int, int);\nint main(void) { return add(2, 3) != 5; }\n",
        ".gitignore": "tests/add\n",
    }.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    subprocess.run(["make", "tests/add"], cwd=project, check=True, capture_output=True)
    ended = run_goal("make-test", project, patch("add.c", "a - b", "a + b"))
    assert ended.outcome == (0, "achieved"), ended.progress
    assert ended.record["findings"] == []
