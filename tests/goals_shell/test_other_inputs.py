"""`perf-check` on inputs that nobody has named: work that is done tells them apart."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from retrai_goals_shell.other_inputs import OtherInput, candidates, copy_for_input
from retrai_goals_shell.perf_check import PerfCheckGoal

from .conftest import Bench

LATER = {"iteration": 1}
SUM = 'total=0; while read -r line; do total=$((total + line)); done < "$1"; echo $total\n'
SEQUENCE = "total=0\nfor n in $(seq 1 400); do total=$((total + n)); done\necho $total\n"


async def _on_a_copy(bench: Bench, room: Path, changed: dict[str, str], command: str) -> Any:
    """The verdict on a copy, after the run has begun with the project as it stands."""
    given = {"command": command, "max_seconds": 60, "runs": 1, "repeats": 1, "warmup": 0}
    goal = bench.build(PerfCheckGoal, **given)
    first = await goal.check({}, bench.project)
    assert first.achieved, first.reason
    bench.write(changed)
    assert (await goal.check(LATER, bench.project)).achieved
    copy = room / "copy"
    shutil.copytree(bench.project, copy)
    return await goal.check(LATER, copy)


@pytest.mark.parametrize(
    ("command", "files", "changed"),
    [
        ("bash job.sh numbers.txt", {"numbers.txt": "11\n20\n300\n", "job.sh": SUM}, "echo 331\n"),
        ("bash job.sh", {"job.sh": SEQUENCE}, "echo 80200\n"),
        ("seq 1 300 | bash job.sh", {"job.sh": "sort -n | tail -n 1\n"}, "echo 300\n"),
    ],
    ids=["a data file", "a number in the program", "a number in the command"],
)
async def test_what_is_printed_again_is_told_from_what_is_worked_out(
    bench: Bench, tmp_path: Path, command: str, files: dict[str, str], changed: str
) -> None:
    bench.write(files)
    found = await _on_a_copy(bench, tmp_path, {"job.sh": changed}, command)
    assert not found.achieved
    assert found.report.cases == {"time": "passed", "output": "failed"}


@pytest.mark.parametrize(
    ("command", "files", "changed"),
    [
        (
            "bash job.sh numbers.txt",
            {"numbers.txt": "11\n20\n300\n", "job.sh": SUM},
            "awk '{ total += $1 } END { print total }' \"$1\"\n",
        ),
        ("bash job.sh", {"job.sh": SEQUENCE}, "n=400\necho $((n * (n + 1) / 2))\n"),
        ("bash job.sh", {"job.sh": SEQUENCE}, "n=$((4 * 10**2))\necho $((n * (n + 1) / 2))\n"),
        ("bash job.sh", {"job.sh": "echo always\n"}, "printf 'always\\n'\n"),
    ],
    ids=["a data file", "a number in the program", "a number said otherwise", "no input"],
)
async def test_a_better_way_passes(
    bench: Bench, tmp_path: Path, command: str, files: dict[str, str], changed: str
) -> None:
    bench.write(files)
    found = await _on_a_copy(bench, tmp_path, {"job.sh": changed}, command)
    assert found.achieved, found.reason


def test_what_is_no_input_is_not_changed(bench: Bench) -> None:
    bench.write(
        {
            "package.json": '{"version": "12.34.56"}',
            "uv.lock": "12",
            ".github/a.yml": "12",
            "out.txt": "12",
            "node_modules/a.json": "12",
            "words.txt": "a\nb\nc\nd\n",
            "job.py": "x = 12\n",
        }
    )
    found: list[OtherInput] = list(
        candidates(bench.project, "python3 job.py", ["job.py"], "salt", ["out.txt"])
    )
    assert [(each.kind, each.path) for each in found] == [("data", "words.txt")]


def test_what_cannot_be_read_stops_no_trial(tmp_path: Path) -> None:
    project, copy = tmp_path / "project", tmp_path / "copy"
    (project / "data").mkdir(parents=True)
    (project / "data" / "numbers.txt").write_text("11\n")
    (project / ".#job.sh").symlink_to("nobody@nowhere")
    os.mkfifo(project / "pipe.txt")
    os.mkfifo(project / "data" / "pipe.txt")
    found = [each.path for each in candidates(project, "bash job.sh", [], "s", [])]
    assert found == ["data/numbers.txt"]
    copy_for_input(project, copy)
    copied = sorted(path.name for path in copy.rglob("*") if path.is_file())
    assert copied == ["numbers.txt"]
