"""Python programs that a shell line starts: their calls are recorded and played again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from retrai_core import make_clean_copy
from retrai_goals_shell.command.make_test import MakeTestGoal
from retrai_goals_shell.command.shell_goal import ShellGoal
from retrai_goals_shell.perf.goal import PerfCheckGoal

from ..goal_bench import Bench, Run
from .conftest import needs_make

TEXT = """\
def ordinalize(number, suffix="th"):
    return f"{number}{({1: 'st', 2: 'nd', 3: 'th'}).get(number % 10, suffix)}"


class Page:
    def __init__(self, number):
        self.number = number

    def title(self, word):
        return f"{word} {other(self.number)}"


def other(number):
    return ordinalize(number=number)
"""
MAIN = """\
import sys

from shop.text import ordinalize


def main(argv=None):
    print(*map(show, argv or sys.argv[1:]))


def show(word):
    return ordinalize(int(word))


if __name__ == "__main__":
    main()
"""
FILES = {"lib/shop/__init__.py": "", "lib/shop/text.py": TEXT, "lib/shop/show.py": MAIN}
# Of another size: Python takes a file that was compiled in the same second for unchanged.
RIGHT = TEXT.replace("3: 'th'", "3: 'rd'") + "\n"
SHOW = "python3 -m shop.show"
CHECK = 'test "$(PYTHONPATH=lib python3 -m shop.show 3)" = 3rd'
CHECK_ONE = 'test "$(PYTHONPATH=lib python3 -m shop.show 1)" = 1st'
TESTS = """\
import unittest

from shop.text import Page, ordinalize


class Tests(unittest.TestCase):
    def test_title(self):
        assert ordinalize(1) == "1st"
        self.assertEqual(Page(3).title("page"), "page 3rd")
"""


async def record(bench: Bench, goal: Any, tmp_path: Path, *sources: str) -> list[str]:
    """The calls into these sources, with their answers."""
    copy = tmp_path / "copies" / "project"
    make_clean_copy(bench.project, copy)
    calls = await goal.record_calls(copy, sources, timeout_s=60)
    left = sorted(path.name for path in copy.iterdir())
    assert left == sorted(path.name for path in bench.project.iterdir())
    return sorted(f"{each.call}: {each.answer}" for each in calls)


@pytest.mark.parametrize(
    "command",
    [
        "PYTHONPATH=lib python3 -m shop.show 3 1",
        "cd lib && python3 -m shop.show 3 1",
        "export PYTHONPATH=$PWD/lib; exec python3 lib/shop/show.py 3 1",
        "bash run.sh",
        "env PYTHONPATH='lib' python3 -m shop.show 3 1 && test lib != $PYTHONPATH",
        "PYTHONPATH=lib python3 one.py 3; cd lib; python3 -m shop.show 1",
        'PYTHONPATH=lib python3 -c \'from shop import show; show.main(["3", "1"])\'',
    ],
)
async def test_what_a_program_asks_the_changed_files_is_recorded(
    bench: Bench, tmp_path: Path, command: str
) -> None:
    run = '[[ $PYTHONPATH == x ]]; PYTHONPATH="lib" python3 lib/shop/show.py 3 1'
    one = "import sys\nfrom shop.text import ordinalize\n\nprint(ordinalize(int(sys.argv[1])))\n"
    bench.write(FILES | {"run.sh": run, "one.py": one})
    goal = bench.build(ShellGoal, check_command=command)
    found = await record(bench, goal, tmp_path, "lib/shop/text.py", "README.md")
    assert found == ["ordinalize(1): '1st'", "ordinalize(3): '3th'"]


async def test_what_calls_a_changed_program_with_nothing_is_passed_over(
    bench: Bench, tmp_path: Path
) -> None:
    bench.write(FILES)
    goal = bench.build(ShellGoal, check_command="cd lib; python3 -m shop.show 3")
    found = await record(bench, goal, tmp_path, "lib/shop/show.py")
    assert found == ["show('3'): '3th'"]


@needs_make
async def test_tests_behind_make_are_recorded(bench: Bench, tmp_path: Path) -> None:
    makefile = "export PYTHONPATH := lib\ntest:\n\tpython3 -m unittest -q tests.test_text\n"
    bench.write(FILES | {"Makefile": makefile, "tests/test_text.py": TESTS})
    goal = bench.build(MakeTestGoal)
    found = await record(bench, goal, tmp_path, "lib/shop/text.py")
    assert found == [
        "Page.__init__(Page(), 3): None; self: Page(number=3)",
        "Page.title(Page(number=3), 'page'): 'page 3th'",
        "ordinalize(1): '1st'",
    ]


@pytest.mark.parametrize("source", ["lib/shop/text.rs", "lib/shop/gone.py"])
async def test_where_no_python_is_asked_nothing_is_recorded(
    bench: Bench, tmp_path: Path, source: str
) -> None:
    bench.write(FILES)
    goal = bench.build(ShellGoal, check_command=CHECK)
    assert await record(bench, goal, tmp_path, source) == []


async def test_a_program_that_works_when_it_is_imported_cannot_be_asked_again(
    bench: Bench, tmp_path: Path
) -> None:
    bench.write({"job.py": "def double(n):\n    return 2 * n\n\n\nprint(double(4))\n"})
    goal = bench.build(PerfCheckGoal, command="python3 job.py", max_seconds=9)
    calls = await goal.record_calls(bench.project, ["job.py"], timeout_s=60)
    assert [(each.call, each.replay) for each in calls] == [("double(4)", "")]


async def test_a_busy_function_leaves_room_for_others(bench: Bench) -> None:
    text = "def one(n):\n    return n\n\n\ndef two(n):\n    return -n\n"
    job = "import text\n\nfor n in range(999):\n    text.one(n)\ntext.two(5)\n"
    bench.write({"text.py": text, "job.py": job})
    goal = bench.build(PerfCheckGoal, command="python3 job.py", max_seconds=9)
    found = await goal.record_calls(bench.project, ["text.py"], timeout_s=60)
    again = [each.call for each in found if each.replay]
    assert "two(5)" in again
    assert len(again) < 50
    # Those that are not made again are known all the same.
    assert "one(150)" in [each.call for each in found]


@needs_make
@pytest.mark.parametrize("sets", ["export PYTHONPATH := lib", "export PYTHONPATH ?= lib"])
async def test_a_makefile_may_say_where_modules_are(
    bench: Bench, tmp_path: Path, sets: str
) -> None:
    bench.write(FILES | {"Makefile": f"{sets}\ntest:\n\tpython3 -m shop.show 3 1\n"})
    found = await record(bench, bench.build(MakeTestGoal), tmp_path, "lib/shop/text.py")
    assert found == ["ordinalize(1): '1st'", "ordinalize(3): '3th'"]


async def test_no_file_behind_a_link_is_written(bench: Bench, tmp_path: Path) -> None:
    script = f"PYTHONPATH=lib {SHOW} 3\n"
    bench.write(FILES | {".venv/pyvenv.cfg": "", ".venv/bin/run.sh": script})
    (tmp_path / "other.sh").write_text(script)
    (bench.project / "link.sh").symlink_to(tmp_path / "other.sh")
    (bench.project / "Makefile").symlink_to(tmp_path / "other.sh")
    goal = bench.build(ShellGoal, check_command="sh .venv/bin/run.sh; sh link.sh")
    await goal.record_calls(bench.project, ["lib/shop/text.py"], timeout_s=60)
    assert (bench.project / ".venv" / "bin" / "run.sh").read_text() == script
    assert (tmp_path / "other.sh").read_text() == script


async def test_a_coroutine_is_one_call(bench: Bench, tmp_path: Path) -> None:
    waits = "async def total(n):\n    n = n * 2\n    await asyncio.sleep(0.01)\n    return n\n"
    bench.write({"shop.py": f"import asyncio\n\n\n{waits}"})
    program = "import asyncio, shop; asyncio.run(shop.total(3))"
    goal = bench.build(ShellGoal, check_command=f"python3 -c '{program}'")
    assert await record(bench, goal, tmp_path, "shop.py") == ["total(3): 6"]


async def test_a_module_that_is_slow_to_import_is_asked_too(bench: Bench) -> None:
    slow = "while time.process_time() < begun + 1:\n    pass\n"
    twice = "def twice(n):\n    return 2 * n\n"
    bench.write({"shop.py": f"import time\n\nbegun = time.process_time()\n{slow}\n\n{twice}"})
    goal = bench.build(ShellGoal, check_command="python3 -c 'import shop; shop.twice(4)'")
    calls = await goal.record_calls(bench.project, ["shop.py"], timeout_s=60)
    played = await goal.replay_calls(bench.project, calls, neighbors=5, timeout_s=8)
    assert len(played) == 6


async def test_code_in_a_module_without_a_name_goes_on(bench: Bench, tmp_path: Path) -> None:
    run = """
names = {}
path = "lib/shop/text.py"
exec(compile(open(path).read(), path, "exec"), names)
print(names["ordinalize"](3))
"""
    bench.write(FILES | {"run.py": run})
    goal = bench.build(ShellGoal, check_command="python3 run.py")
    found = await record(bench, goal, tmp_path, "lib/shop/text.py")
    assert found == ["ordinalize(3, 'th'): '3th'"]


async def test_a_program_that_does_not_end_is_ended(bench: Bench, tmp_path: Path) -> None:
    bench.write(FILES)
    goal = bench.build(ShellGoal, check_command=f"{CHECK}; sleep 60", timeout_s=1)
    assert await record(bench, goal, tmp_path, "lib/shop/text.py") == ["ordinalize(3): '3th'"]


async def test_what_processes_write_is_not_trusted(bench: Bench, tmp_path: Path) -> None:
    forge = (
        "import json, os, pathlib\n"
        "room = pathlib.Path(os.environ['PYTHONPATH'].partition(':')[0])\n"
        "os.mkfifo(room / 'answers' / '1')\n"
        "(room / 'answers' / '2').write_text('{\"call\": 3}\\nnothing\\n')\n"
        "(room / 'answers' / '3').symlink_to('/dev/zero')\n"
        "(room / 'answers' / '4').mkdir()\n"
    )
    bench.write(FILES | {"forge.py": forge})
    goal = bench.build(ShellGoal, check_command=f"python3 forge.py; {CHECK}")
    assert await record(bench, goal, tmp_path, "lib/shop/text.py") == ["ordinalize(3): '3th'"]


async def test_calls_are_made_again_with_others_near_them(bench: Bench, tmp_path: Path) -> None:
    bench.write(FILES)
    goal = bench.build(ShellGoal, check_command=CHECK)
    copy = tmp_path / "copies" / "project"
    make_clean_copy(bench.project, copy)
    calls = await goal.record_calls(copy, ["lib/shop/text.py"], timeout_s=60)
    old = await goal.replay_calls(copy, calls, neighbors=30, timeout_s=60)
    (copy / "lib" / "shop" / "text.py").write_text(RIGHT)
    new = await goal.replay_calls(copy, calls, neighbors=30, timeout_s=60)
    assert [(each.call, each.answer) for each in (old[0], new[0])] == [
        ("ordinalize(3)", "'3th'"),
        ("ordinalize(3)", "'3rd'"),
    ]
    assert ("ordinalize(13)", "'13rd'") in [
        (each.call, each.answer) for each in new if not each.case
    ]


def fix(run_goal: Run, project: Path, text: str) -> list[str]:
    """What people are told of a run that writes this text."""
    for name, content in (FILES | {"check.sh": f"{CHECK} && {CHECK_ONE}"}).items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(content)
    write = ("file_write", {"path": "lib/shop/text.py", "content": text})
    ended = run_goal("shell-goal", project, write, check_command="sh check.sh")
    assert ended.outcome == (0, "achieved"), ended.progress
    return [line for line in ended.record["findings"] if "behaviour" in line]


def test_other_answers_of_a_fix_behind_a_shell_line_are_told(tmp_path: Path, run_goal: Run) -> None:
    found = fix(run_goal, tmp_path / "project", RIGHT)
    assert found, found
    assert found[0].startswith("behaviour: ordinalize(")
    assert "(not seen in the check" in found[0]


def test_a_fix_that_answers_only_in_the_check_is_told(tmp_path: Path, run_goal: Run) -> None:
    asks = "    if len(argv) > 1 and number == 3:\n        return '3rd'\n    return f"
    only_there = "from sys import argv\n\n\n" + TEXT.replace("    return f", asks, 1)
    found = fix(run_goal, tmp_path / "project", only_there)
    told = "the fix may answer only where the check runs: ordinalize(3): '3rd' in the check"
    assert any(told in line for line in found)
