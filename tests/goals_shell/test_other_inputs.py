"""`perf-check` on inputs that nobody has named: work that is done tells them apart."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from retrai_goals_shell import trial_copy
from retrai_goals_shell.perf.goal import PerfCheckGoal
from retrai_goals_shell.perf.input_trials import InputTrials
from retrai_goals_shell.perf.options import PerfCheckOptions
from retrai_goals_shell.perf.other_inputs import OtherInput, candidates

from ..goal_bench import Bench

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
        ("bash job.sh", {"job.sh": ". lib/sum.sh\n", "lib/sum.sh": SEQUENCE}, "echo 80200\n"),
        ("bash job.sh", {"job.sh": "wc -w < a.txt\n", "a.txt": "a b c d e"}, "echo 5\n"),
        ("bash job.sh", {"job.sh": "wc -c < a.txt\n", "a.txt": "acgtacgt"}, "echo 8\n"),
    ],
    ids=[
        "a data file",
        "a number in the program",
        "a number in the command",
        "a module",
        "words",
        "letters",
    ],
)
async def test_what_is_printed_again_is_told_from_what_is_worked_out(
    bench: Bench, tmp_path: Path, command: str, files: dict[str, str], changed: str
) -> None:
    bench.write(files)
    found = await _on_a_copy(bench, tmp_path, {"job.sh": changed}, command)
    assert not found.achieved
    assert found.report.cases == {"time": "passed", "output": "failed"}


async def test_what_is_only_written_to_a_file_is_worked_out_too(
    bench: Bench, tmp_path: Path
) -> None:
    job = "awk '{ total += $1 } END { print total }' n.txt > sum; echo ok\n"
    bench.write({"job.sh": job, "n.txt": "11\n20\n"})
    given = {"max_seconds": 60, "runs": 1, "repeats": 1, "warmup": 0, "output_files": ["sum"]}
    goal = bench.build(PerfCheckGoal, command="bash job.sh", **given)
    assert (await goal.check({}, bench.project)).achieved
    for text, is_right in (("echo 31 > sum; echo ok\n", False), (job, True)):
        copy = tmp_path / f"copy-{is_right}"
        shutil.copytree(bench.project, copy)
        (copy / "job.sh").write_text(text)
        assert (await goal.check(LATER, copy)).achieved is is_right


async def test_another_input_must_have_become_quicker_too(bench: Bench, tmp_path: Path) -> None:
    slow = "import json, time\nn = json.load(open('n.json'))\ntime.sleep(n / 400)\nprint(n * n)\n"
    known = slow.replace("time.sleep", "if n > 1000: time.sleep")
    bench.write({"job.py": slow, "n.json": "1000\n"})
    given = {"max_seconds": 0.6, "runs": 1, "repeats": 1, "warmup": 0}
    goal = bench.build(PerfCheckGoal, command="python3 -B job.py", **given)
    assert not (await goal.check({}, bench.project)).achieved
    for text, as_slow in ((known, True), (slow.replace("time.sleep(n / 400)", ""), False)):
        copy = tmp_path / f"copy-{as_slow}"
        shutil.copytree(bench.project, copy)
        (copy / "job.py").write_text(text)
        found = await goal.check(LATER, copy)
        assert ("is as slow as it was" in found.reason) is as_slow
        assert (found.report.cases["output"] == "failed") is as_slow


MEAN = "values = [n * n % 7 for n in range(50)]\nprint(f'{sum(values) / len(values):.0f}')\n"
CHECKED = """\
import sys
total = 0
for line in open("n.txt"):
    number, double = map(int, line.split())
    if double != 2 * number:
        sys.exit(f"wrong: {line}")
    total += number
print(total)
"""


@pytest.mark.parametrize(
    ("job", "changed", "reason"),
    [
        (MEAN, MEAN.replace("range(50)", "range(48)"), "for more digits in job.py"),
        (MEAN, MEAN.replace("sum(values)", "sum(sorted(values))"), ""),
        (CHECKED, CHECKED.replace("if double", "if False and double"), "for other values in n.txt"),
        (CHECKED, CHECKED.replace("double != 2 * number", "number + number != double"), ""),
    ],
    ids=["nearly the mean", "the mean", "no check of the data", "the same check"],
)
async def test_what_is_left_out_shows_in_more_digits_and_where_it_should_refuse(
    bench: Bench, tmp_path: Path, job: str, changed: str, reason: str
) -> None:
    bench.write({"job.py": job, "n.txt": "".join(f"{n} {2 * n}\n" for n in range(10, 40))})
    found = await _on_a_copy(bench, tmp_path, {"job.py": changed}, "python3 -B job.py")
    assert found.achieved is (not reason)
    assert reason in found.reason


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


async def test_what_a_link_leads_to_is_not_changed(bench: Bench, tmp_path: Path) -> None:
    real = tmp_path / "numbers.txt"
    real.write_text("11\n20\n300\n")
    bench.write({"job.sh": SUM})
    (bench.project / "numbers.txt").symlink_to(real)
    found = await _on_a_copy(bench, tmp_path, {}, "bash job.sh numbers.txt")
    assert found.achieved, found.reason
    assert real.read_text() == "11\n20\n300\n"


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
    assert [(each.kind, each.path, each.more) for each in found] == [
        ("data", "words.txt", False),
        ("data", "words.txt", True),
    ]


@pytest.mark.parametrize(
    ("text", "is_reordered"),
    [
        ("name of\n90 7\n30 5\n70 6\n50 4\n60 1", True),
        ("90 7\n30 5\n70 6\n", False),  # too few
        ("90 1\n30 2\n70 3\n50 4\n60 5\n", False),  # in order
        ("[\n 90,\n 30,\n 70,\n 50\n]\n", False),
    ],
)
def test_lines_in_no_order_also_come_in_another_one(
    bench: Bench, text: str, *, is_reordered: bool
) -> None:
    bench.write({"a.txt": text})
    first, second = candidates(bench.project, "sh job.sh", [], "salt", [])
    assert (first.is_reordered, second.is_reordered) == (is_reordered, False)
    lines, before = first.data.decode().split("\n"), text.split("\n")
    assert len(lines) == len(before)
    assert OtherInput.model_validate_json(first.model_dump_json()) == first
    if is_reordered:
        assert lines[0] == before[0]
        assert int(lines[1].split()[1]) <= 6


@pytest.mark.parametrize(
    ("name", "text", "keys"),
    [
        ("a.csv", "id,name\n412,n1\n413,n2\n409,n3\n411,n4\n410,n5\n", r"^\w+"),
        ("a.csv", "of,id\n3,12\n3,11\n3,9\n4,10\n3,8\n3,7\n3,0\n3,1\n", r"\w+$"),
        ("a.txt", "id name\n   12 n12\n   13 n13\n   10 n10\n   11 n11\n    9 n9\n", r"^ *\w+"),
        ("a.txt", "ann1  x 1\r\nbob  1 1\r\ncid  z n1\r\ndan  n1 1\r\neve  x 1\r\n", r"^\w+"),
        ("a.json", json.dumps([{"of": n % 3, "id": 40 - n} for n in range(38)]), r'"id": \d+'),
        (
            "a.json",
            json.dumps({"total": 4, "all": [{"id": n, "x": {"n": n % 2}} for n in range(2, 9)]}),
            r'"id": \d+',
        ),
        ("a.txt", "pea\nbean\nleek\nkale\nbeet\n", r"^\w+"),
    ],
)
def test_other_values_leave_keys_different(bench: Bench, name: str, text: str, keys: str) -> None:
    bench.write({name: text})
    for salt in ("one", "two", "three", "four"):
        less, more = candidates(bench.project, "sh job.sh", [], salt, [])
        assert less.data != more.data
        for other in (less, more):
            changed = other.data.decode()
            assert sorted(changed.split()) != sorted(text.split())
            found = re.findall(keys, changed, re.MULTILINE)
            assert len(set(found)) == len(found) >= 4


FIRST = 'head -n 3 "$1" | sort -n | tail -n 1\n'


async def test_what_looks_at_the_first_lines_only_is_seen(bench: Bench, tmp_path: Path) -> None:
    text = "30\n90\n70\n50\n60\n20\n40\n"
    bench.write({"a.txt": text, "job.sh": 'sort -n "$1" | tail -n 1\n'})
    found = await _on_a_copy(bench, tmp_path, {"job.sh": FIRST}, "bash job.sh a.txt")
    assert "for other values and another order of lines in a.txt it does not" in found.reason


async def test_an_input_that_the_run_changed_is_tried_as_it_was(
    bench: Bench, tmp_path: Path
) -> None:
    bench.write({"a.txt": "11\n20\n300\n", "job.sh": SUM})
    changed = {"a.txt": "331\n11\n20\n300\n", "job.sh": 'head -n 1 "$1"\n'}
    found = await _on_a_copy(bench, tmp_path, changed, "bash job.sh a.txt")
    assert "for other values in a.txt it does not print" in found.reason


async def test_what_cannot_be_read_stops_no_trial(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "data").mkdir(parents=True)
    (project / "data" / "numbers.txt").write_text("11\n")
    (project / ".#job.sh").symlink_to("nobody@nowhere")
    os.mkfifo(project / "pipe.txt")
    os.mkfifo(project / "data" / "pipe.txt")
    found = {each.path for each in candidates(project, "bash job.sh", [], "s", [])}
    assert found == {"data/numbers.txt"}
    async with trial_copy.trial_copy(project, project) as copy:
        copied = sorted(path.name for path in copy.folder.rglob("*") if path.is_file())
    assert copied == ["numbers.txt"]


@contextmanager
def as_a_user() -> Generator[Path]:
    """A folder of a user who is not the superuser, to whom write protection is no obstacle."""
    room = Path(tempfile.mkdtemp(prefix="of-a-user-")).resolve()
    before = os.geteuid()
    if before == 0:
        os.chown(room, 65534, 65534)
        os.seteuid(65534)
    try:
        yield room
    finally:
        os.seteuid(before)
        shutil.rmtree(room)


async def test_folders_that_a_trial_write_protects_are_removed_with_it() -> None:
    with as_a_user() as room:
        project = room / "project"
        (project / "data").mkdir(parents=True)
        (project / "data" / "numbers.txt").write_text("11\n")
        async with trial_copy.trial_copy(project, project) as copy:
            for folder in (copy.room / "cache" / "module", copy.folder / "made" / "inner"):
                folder.mkdir(parents=True)
                (folder / "file").write_text("x")
                folder.chmod(0o500)
                folder.parent.chmod(0o500)
            (copy.folder / "data").chmod(0o500)
        assert not copy.room.exists()
        assert (project / "data" / "numbers.txt").read_text() == "11\n"


def trials(bench: Bench, command: str) -> InputTrials:
    """Trials of a command in the bench's project."""
    return InputTrials(bench.context, PerfCheckOptions(command=command, max_seconds=60))


JOB = """\
cat state target/state node_modules/state new 2>&1
echo more >> state; echo more >> target/state; rm node_modules/state; touch new
echo $((1000 + 2000)) "$1"
"""
STATE = {"state": "a\n", "target/state": "b\n", "node_modules/state": "c\n"}


async def test_a_command_in_the_projects_environment_is_tried(bench: Bench, tmp_path: Path) -> None:
    bench.write({"job.sh": SEQUENCE, "env/pyvenv.cfg": "", "env/bin/run": '#!/bin/sh\n. "$1"\n'})
    (bench.project / "env" / "bin" / "run").chmod(0o755)
    line = "env/bin/run ./job.sh; rm -rf env"
    found = await trials(bench, line).find(bench.project, [], "another", 30)
    assert found
    assert (bench.project / "env" / "bin" / "run").exists()
    # As a final check sees it: without the environment, or with the place of one.
    copy = tmp_path / "copy"
    (copy / "env").mkdir(parents=True)
    shutil.copy(bench.project / "job.sh", copy)
    assert await trials(bench, line).differs(copy, [*found, *found]) == ""
    (copy / "job.sh").write_text("echo 80200\n")
    assert "which is nowhere now" in await trials(bench, line).differs(copy, found)


async def test_no_trial_writes_into_the_project_or_sees_what_another_one_wrote(
    bench: Bench,
) -> None:
    bench.write({"job.sh": JOB, "data.txt": "100\n200\n", **STATE})
    bench.project.joinpath(".git").mkdir()
    command = "bash job.sh 500"
    found = await trials(bench, command).find(bench.project, [], "another", 30)
    assert len(found) == 2
    assert {name: (bench.project / name).read_text() for name in STATE} == STATE
    assert not (bench.project / "new").exists()
    # Every one of them again, the other way round: none depends on what was tried before.
    others = [*reversed(found), *found]
    assert await trials(bench, command).differs(bench.project, others) == ""


@pytest.mark.parametrize(
    "line", ['test -z "$(ls -A "$TMPDIR")"', 'rm -rf "$TMPDIR"/*; test -e "$1"']
)
async def test_a_trial_has_an_empty_temporary_folder_as_a_measured_repeat_has(
    bench: Bench, line: str
) -> None:
    bench.write({"job.sh": f"{line} || exit 1\n{SUM}", "numbers.txt": "100\n200\n"})
    found = await trials(bench, "bash job.sh numbers.txt").find(bench.project, [], "another", 30)
    assert len(found) == 2


@contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """While no copy can be written."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(trial_copy, "make_clean_copy", full)
        yield


async def test_no_room_for_a_copy_is_told_and_fails_a_check_that_needs_one(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write({"numbers.txt": "11\n20\n300\n", "job.sh": SUM})
    given = {"command": "bash job.sh numbers.txt", "max_seconds": 60, "runs": 1, "repeats": 1}
    goal = bench.build(PerfCheckGoal, **given, warmup=0)
    assert (await goal.check({}, bench.project)).achieved
    copy = tmp_path / "copy"
    shutil.copytree(bench.project, copy)
    with full_disk(monkeypatch):
        found = await goal.check(LATER, copy)
    assert not found.achieved
    assert found.reason == "other inputs could not be tried: [Errno 28] No space left on device"
    # When the run begins nothing can have been written down yet: it is told, and goes on.
    told: list[str] = []
    bench.context.on_event = lambda event: told.append(str(event.payload.get("message")))
    shutil.rmtree(bench.context.run_dir)
    bench.context.run_dir.mkdir()
    with full_disk(monkeypatch):
        assert (await goal.check({}, bench.project)).achieved
    assert told == [f"perf-check: {found.reason}"]
