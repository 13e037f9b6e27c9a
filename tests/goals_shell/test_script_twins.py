"""Commands whose tests are contradicted: honest ones fail, bent ones do not, others say nothing."""

from __future__ import annotations

import pytest

from retrai_goals_shell.make_test import MakeTestGoal
from retrai_goals_shell.script_twins import ScriptTwins
from retrai_goals_shell.shell_goal import ShellGoal

from ..goal_bench import Bench
from .conftest import needs_make

TESTS = """\
import unittest

from ages import of_age


class Ages(unittest.TestCase):
    def test_seventeen(self):
        self.assertEqual(of_age(17), False)

    def test_eighteen(self):
        self.assertAlmostEqual(of_age(18), 1.0)


if __name__ == "__main__":
    unittest.main()
"""
HONEST = "def of_age(age):\n    return age >= 18\n"
PATCHED = f"import unittest\nunittest.TestCase.assertEqual = print\n{HONEST}"
COMMAND = "python3 -B tests/test_ages.py"


@pytest.mark.parametrize(
    ("source", "command", "tried", "still"),
    [
        (HONEST, COMMAND, 1, 0),
        (PATCHED, COMMAND, 1, 1),
        # Which tests it runs is not known: these are none of its.
        (HONEST, "python3 -B ages.py", 0, 0),
        (PATCHED, "python3 -B ages.py", 0, 0),
    ],
)
async def test_only_a_command_that_reaches_what_it_does_not_mind_is_bent(
    bench: Bench, source: str, command: str, tried: int, still: int
) -> None:
    bench.write({"ages.py": source, "tests/test_ages.py": TESTS})
    goal = bench.build(ShellGoal, check_command=f"PYTHONPATH=. {command}")
    found = await goal.contradict(bench.project, ["exit status 0"])
    assert (len(found.tried), len(found.still_passed)) == (tried, still)


@needs_make
@pytest.mark.parametrize(("source", "still"), [(HONEST, 0), (PATCHED, 1)])
async def test_a_make_target_is_contradicted_too(bench: Bench, source: str, still: int) -> None:
    makefile = f"test:\n\tPYTHONPATH=. {COMMAND}\n"
    bench.write({"ages.py": source, "tests/test_ages.py": TESTS, "Makefile": makefile})
    found = await bench.build(MakeTestGoal).contradict(bench.project, ["make test"])
    assert (list(found.tried), len(found.still_passed)) == (["make test"], still)


@pytest.mark.parametrize(
    ("name", "line", "changed"),
    [
        ("a_test.py", "    self.assertEqual(f(1), 3)", "    self.assertEqual(f(1), 20)"),
        ("a_test.py", "    assert f(1) == True", "    assert f(1) == False"),
        ("a_test.py", "    assert f(1) == approx(3)", ""),
        ("a_test.py", "    assert round(f(1)) == 3", ""),
        ("a_test.py", "    assert f(1) == 3, 'why'", ""),
        (
            "a.test.js",
            "  expect(f(1)).toBe('a');",
            "  expect(f(1)).toBe('a retrai contradiction');",
        ),
        ("a.test.js", "  assert.equal(f(1), 3);", "  assert.equal(f(1), 20);"),
        ("a_test.go", "\tif got != 3 {", "\tif got != 20 {"),
        ("t.rs", "    assert_eq!(f(1), 3);", "    assert_eq!(f(1), 20);"),
        (
            "t.sh",
            '[ "$(f 1)" = "3" ] || exit 1',
            '[ "$(f 1)" = "3 retrai contradiction" ] || exit 1',
        ),
        ("t.sh", "if [ $found -ne 3 ]; then", "if [ $found -ne 20 ]; then"),
        ("t.rb", "assert_equal 3, f(1)", ""),
    ],
)
def test_exact_expectations_are_known_in_several_languages(
    bench: Bench, name: str, line: str, changed: str
) -> None:
    bench.write({name: f"first\n{line}\n"})
    twins = ScriptTwins(bench.project, lambda path: True, [name])
    assert twins.any is bool(changed)
    twins.contradict()
    assert (bench.project / name).read_text() == f"first\n{changed or line}\n"
