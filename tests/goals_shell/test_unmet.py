"""What a command found unequal when the run began must still be looked at when it passes."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from retrai_goals_shell.command.make_test import MakeTestGoal
from retrai_goals_shell.command.shell_goal import ShellGoal
from retrai_goals_shell.edits import edited
from retrai_goals_shell.expectations.in_files import (
    comparisons,
    expectations_in,
    following,
    mark_of_start,
    marks_of,
)
from retrai_goals_shell.expectations.program_ends import failing_after_end, failing_at_end
from retrai_goals_shell.expectations.unmet import _answer_of_helper, _others

from ..goal_bench import Bench
from .conftest import needs_cc, needs_make

LATER = {"iteration": 1}
IS = 'is() { [ "$1" = "$2" ] || exit 1; }\n'
COUNTS = """\
is() {
  local want=$2
  shift 2
  got=$(f $1)
  if [ "$got" != "$want" ]; then
    bad=$((bad + 1))
  fi
}
"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("t.py", "assert f(1) == 3\n", ["3"]),
        ("t.py", "assert [1, 2] == f(1)\n", ["[1, 2]"]),
        ("t.py", "class T:\n  def t(self):\n    self.assertEqual('a', f(1))\n", ["'a'"]),
        ("t.py", "if f(1) != 3:\n    raise SystemExit('wrong')\n", ["3"]),
        ("t.py", "if f(1) != 3:\n    bad += 1\n", ["3"]),
        (
            "t.py",
            "T = {1: 2, 3: 6}\nfor n, sum in T.items():\n    assert f(n) == sum\n",
            ["2", "6"],
        ),
        ("t.py", "assert all(f(n) == sum for n, sum in ((1, 2), (3, 6)))\n", ["2", "6"]),
        (
            "t.py",
            "def is_(a, b):\n  if a != b:\n    bad.append(a)\nis_(f(1), 3)\nis_(f(2), b=4)\n",
            ["3", "4"],
        ),
        ("t.py", "for n, sum in ((1, 2),):\n    print('ok' if f(n) == sum else 'bad')\n", ["2"]),
        ("t.py", "if not f(1) == 3:\n    sys.exit('bad')\n", ["3"]),
        (
            "t.py",
            "def is_(a, b):\n  ok = a == b\n  if not ok:\n    bad.append(a)\nis_(f(1), 3)\n",
            ["3"],
        ),
        ("t.py", "if f(1) != 3:\n    ok = False\n", ["3"]),
        (
            "t.py",
            (
                "def near(a, b, eps=0.1):\n  return abs(a - b) < eps\n"
                "ok = near(f(1), 2.5) and near(f(2), 3)\nsys.exit(not ok)\n"
            ),
            ["2.5", "3"],
        ),
        (
            "t.py",
            "def same(a, b):\n  return a == b\nassert same(f(1), 'a')\nassert same(f(2), 'b')\n",
            ["'a'", "'b'"],
        ),
        ("t.py", "EPS = 1e-6\nassert abs(f(1) - 3) < EPS\n", ["3"]),
        # What may honestly be something else, or need not fail the command.
        ("t.py", "def is_(a, b):\n  print(a == b)\nis_(f(1), 3)\n", []),
        ("t.py", "def is_(a, b):\n  if a != b:\n    print('note')\nis_(f(1), 3)\n", []),
        ("t.py", "for n, sum in ((1, 2),):\n    right += f(n) == sum\nassert right > 0.9\n", []),
        ("t.py", "for n, sum in ((1, 2),):\n    print(n == sum)\n", []),
        ("t.py", "def is_(a, b):\n  assert a == b\nif quick:\n  is_(f(1), 3)\nis_(f(2), 4)\n", []),
        ("t.py", "def is_(a, b):\n  assert a == b\nis_(f(1), 3)\nis_(f(2), f(3))\n", []),
        ("t.py", "if mode != 'quick':\n    run()\n", []),
        ("t.py", "assert f(1) == approx(3)\nassert round(f(1)) == 3\n", []),
        ("t.py", "assert abs(f(1) - 3) < 0.1\n", ["3"]),
        ("t.py", "if abs(2.5 - f(1)) > 1e-6:\n    bad += 1\n", ["2.5"]),
        ("t.py", "if abs(f(1) - 3) > 5:\n    run()\n", []),
        ("t.py", "assert abs(f(1) - 3) < limit\n", []),
        ("t.py", "try:\n    assert f(1) == 3\nexcept AssertionError:\n    pass\n", []),
        ("t.py", "with raises(AssertionError):\n    assert f(1) == 3\n", []),
        ("t.py", "@expectedFailure\ndef test():\n    assert f(1) == 3\n", []),
        ("t.py", "assert f(1) == 3 or f(1) == 4\n", []),
        ("t.py", "no python (\n", []),
        ("t.sh", 'set -e\n[ "$(f 1)" = 3 ]\n', ["3"]),
        ("t.sh", '[ "$(f 1)" = "3" ] || exit 1\n', ['"3"']),
        ("t.sh", 'if [ "$found" != 3 ]; then\n  exit 1\nfi\n', ["3"]),
        ("t.sh", 'if [ "$found" = 3 ]; then\n  ok\nelse\n  exit 1\nfi\n', ["3"]),
        ("t.sh", '[ "$found" != 3 ] && { echo no; exit 1; }\n', ["3"]),
        ("t.sh", 'if [ "$MODE" != quick ]; then\n  run\nfi\n', []),
        ("t.sh", '[ "$CI" = true ] || echo "failed"\n', []),
        ("t.sh", '[ "$CI" = true ]\nrun\n', []),
        ("t.sh", 'run && test 3 -eq "$(f 1)" && echo fine\n', ["3"]),
        ("t.sh", 'test "$(f 1)" = 3 || test "$(f 1)" = 4\n', []),
        ("t.sh", 'test "$(f 1)" = 3 || bad=1\n', []),
        ("t.sh", 'test "$(f 1)" = 3 || bad=1\ntest $bad = 0\n', ["3", "0"]),
        ("t.sh", f'{IS}is "$(f 1)" 3\nis 4 "$(f 2)"\n', ["4", "3"]),
        ("t.sh", f'{IS}if x; then is "$(f 1)" 3; fi\n', []),
        ("t.sh", f"{COUNTS}is label 3 1\nis other x 2\nexit $bad\n", ["3", "x"]),
        ("t.sh", 'is() { [ "$1" = "$2" ] || echo no; }\nis "$(f 1)" 3\n', []),
        ("t.sh", "is() { [ $1 = $2 ] || [ $1 = $3 ] || exit 1; }\nis $(f 1) 3 4\n", []),
        ("t.bats", '@test "adds two" {\n  [ "$(f 1)" = 3 ]\n}\n', ["3"]),
        ("t.sh", "python3 - <<'EOF'\nassert f(1) == 3\nEOF\n", ["3"]),
        ("t.sh", "set -e\ncd .\nf 1 | grep -q 3\n./f 2\n", ["f 1 | grep -q 3", "./f 2"]),
        ("t.sh", "set -e\nif f 1; then\nf 2 ||\nx=$(f 3)\n! f 4\nf 5 \\\n  6\nfi\n", []),
        ("t.sh", "./f 2\n", []),
        ("t.sh", "failed=0\n./f 2 || failed=1\nexit $failed\n", []),
        ("t.sh", "exit $failed\n./f 2\n", []),
        ("t.sh", "exit 1\n", []),
        ("t.sh", "if [ then\n", []),
        ("Makefile", 'test:\n\t@test "$$(./f 1)" = 3\n\t-test "$$(./f 2)" = 4\n', ["3"]),
        ("Makefile", 'test:\n\tset -e; \\\n\ttest "$$(./f 1)" = 3; ./g\nx = 4\n', ["3"]),
        # It may end elsewhere, or says itself that it failed.
        ("t.sh", "[ -f x ] || exit 0\n./f 2 || failed=1\nexit $failed\n", []),
        ("t.sh", "trap tidy EXIT\n./f 2 || failed=1\nexit $failed\n", []),
        ("t.sh", "if ./f 2; then exit 0; fi\nexit 1\n", []),
        ("t.sh", "cat <<END\nexit 0\nEND\nexit $failed\n", []),
        ("t.c", "  assert(f(1) == 3);\n  CHECK_EQ(4, f(2));\n", ["3", "4"]),
        ("t.c", "  assert(f(1) == 3 || f(1) == 4);\n", []),
        ("t.c", '  CHECK_EQ(f(1), wanted, "of one");\n', []),
        ("t.test.js", "  assert.equal(f(1, 2), wanted, 'of one');\n", []),
        ("t.test.js", "  assert.equal(f(1), 3);\n  expect(f(1)).toBe('a')\n", ["'a'", "3"]),
        ("t.test.js", "assert.throws(() => {\n  assert.equal(f(1), 3);\n});\n", []),
        (
            "t.js",
            "function wrong() {\n  assert.equal(f(1), 3);\n}\nassert.throws(wrong);\n",
            [],
        ),
        ("t.test.js", "try {\n  assert.equal(f(1), 3);\n} finally {\n}\n", []),
        ("t.test.js", "f().then((n) => {\n  assert.equal(n, 3);\n}).catch(() => {});\n", []),
        (
            "t.js",
            "{\n  assert.rejects(() => g());\n  assert.equal(f(1), 3);\n}\nall().catch(exit);\n",
            ["3"],
        ),
        ("t.js", "assert.deepEqual(f(1), [1, 'a']);\n", ["[1, 'a']"]),
        ("t.js", "assert.deepEqual(await f(1), { a: 1, 'b': 'c' });\n", ["{ a: 1, 'b': 'c' }"]),
        ("t.js", "assert.deepEqual(f(1), { a: [1] });\n", []),
        ("t.c", "  assert(f(&x, &y) == 3);\n  assert(a && f(1) == 3);\n", ["3"]),
        ("t.c", "  assert(f(1) & f(2) == 3);\n  assert(f(1) | 1 == 3);\n", []),
        ("t.py", "for n, bad in ((1, 2),):\n    assert f(n) != bad\n", []),
        ("t.py", "for n, bad in ((1, 2),):\n    if f(n) == bad:\n        fail(n)\n", []),
        ("t.js", "const differ = (a, b) => {\n  if (a === b) bad++;\n}\ndiffer(f(1), 3);\n", []),
        ("t.js", "const same = (a, b) => {\n  if (a !== b) bad++;\n}\nsame(f(1, 2), 3);\n", ["3"]),
        ("t.js", "function is(n, a, b) {\n  near(a - b);\n}\nis('n', f(1), 'b');\n", ["'b'"]),
        ("t.js", "function is(a, b) {\n  run(a, b);\n}\nis(f(1), 3);\n", []),
        ("t.t", "is(f(1, 2), 3, 'of one');\nis f('a', 4), '5';\n", ["3", "'5'"]),
        ("t.t", "ok(f(1) == 3, 'round');\ncmp_ok(f(2), '==', 4);\nok(f(1) < 3);\n", ["4", "3"]),
        ("t.t", "is(f(1), $wanted, 'of one');\nis(f(1), 3) if $fast;\n", []),
        ("t.t", "our $TODO = 'later';\nis(f(1), 3);\n", []),
        ("t.js", "test('a', { todo: true }, () => {\n  assert.equal(f(1), 3);\n});\n", []),
        (
            "t.py",
            "for s, n, sum in ((1, 1, 2),):\n  if s > 0:\n    continue\n  assert f(n) == sum\n",
            [],
        ),
        ("t.py", "def is_(a, b=None):\n    assert a == b\nis_(f(1), 2)\nis_(f(2), None)\n", []),
        ("t.sh", "python3 - <<'EOF' || echo known\nassert f(1) == 3\nEOF\n", []),
        ("t.rb", "assert_equal 3, f(1)\n", []),
    ],
)
def test_only_exact_expectations_are_found(name: str, text: str, expected: list[str]) -> None:
    assert [each.literal for each in expectations_in(name, text)] == expected


@pytest.mark.parametrize(
    ("between", "is_reached"),
    [
        ("  assert(leap(2000));\n\n", True),
        ("  run(&x);\n", True),
        ("  if (fast)\n    run();\n", False),
        ("  if (fast) {\n    run();\n  }\n", False),
        ("  /*\n", False),
        ("#if 0\n", False),
        ("  TEST_IGNORE();\n", False),
        ("  if (fast) return 0;\n", False),
        ("}\nvoid other(void) {\n", False),
    ],
)
def test_what_follows_in_the_same_block_is_reached_too(between: str, is_reached: bool) -> None:
    text = f"void all(void) {{\n  assert(f(1) == 1);\n{between}  assert(f(2) == 2);\n}}\n"
    found = sorted(expectations_in("t.c", text), key=lambda each: each.start)
    assert (following(text, found, found[0]) is not None) is is_reached


def test_what_is_compared_is_noted_with_its_value(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    text = "f = str\nfor n, text in ((1, '1'), (2, '3')):\n    assert f(n) == text, 'é'\n"
    found = expectations_in("t.py", text)
    with pytest.raises(AssertionError):
        exec(edited(text, marks_of(text, comparisons(found), str(seen))), {})
    assert seen.read_text().splitlines() == ["0", "0 '1'", "0", "0 '2'"]


@needs_cc
def test_a_statement_that_is_noted_may_be_all_that_a_loop_has(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    text = (
        "#include <assert.h>\nint main(void) {\n  for (int n = 0; n < 2; n++)\n"
        "    assert(n * 2 == 0);\n}\n"
    )
    found = expectations_in("t.c", text)
    (tmp_path / "t.c").write_text(edited(text, marks_of(text, comparisons(found), str(seen))))
    subprocess.run(["cc", "-o", "t", "t.c"], cwd=tmp_path, check=True)
    assert subprocess.run(["./t"], cwd=tmp_path, check=False, stderr=-1).returncode
    assert seen.read_text().splitlines() == ["0", "0 done", "0"]


@pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")
def test_what_perl_compares_stays_as_it_is(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    text = "use Test::More;\nsub f { return 'a' }\nis(f(), 'a');\nis(f(), 'b');\ndone_testing;\n"
    found = expectations_in("t.t", text)
    (tmp_path / "t.t").write_text(edited(text, marks_of(text, comparisons(found), str(seen))))
    done = subprocess.run(["perl", "t.t"], cwd=tmp_path, check=False, capture_output=True)
    assert done.stdout.decode().startswith("ok 1\nnot ok 2\n")
    assert seen.read_text().splitlines() == ["0", "0 a", "1", "1 a"]


WRONG = "def double(n):\n    return n + 2\n"
RIGHT = "def double(n):\n    return n * 2\n"
CHECK = (
    "from doubles import double\n"
    "for n, twice in ((2, 4), (5, 10)):\n    assert double(n) == twice\n"
)
UNIT = (
    "import unittest\nfrom doubles import double\n"
    "class Doubles(unittest.TestCase):\n    def test_five(self):\n"
    "        self.assertEqual(double(5), 10)\nunittest.main()\n"
)
NEAR = (
    "class N(int):\n    def __eq__(self, other):\n        return abs(int(self) - other) < 4\n"
    "    __hash__ = int.__hash__\n"
)


@pytest.mark.parametrize(
    ("source", "is_bent"),
    [
        (RIGHT, False),
        ("def double(n):\n    return {2: 4, 5: 10}[n]\n", False),
        (f"import os\nos._exit(0)\n{WRONG}", True),
        ("import os\ndef double(n):\n    if n == 5: os._exit(0)\n    return n * 2\n", True),
        (f"{NEAR}def double(n):\n    return N(n + 2)\n", True),
        (f"import unittest\nunittest.TestCase.assertEqual = print\n{WRONG}", True),
    ],
    ids=[
        "the work",
        "known answers",
        "ends at once",
        "ends in the call",
        "equal to near ones",
        "patched",
    ],
)
async def test_the_expectation_that_was_not_met_is_contradicted(
    bench: Bench, source: str, is_bent: bool
) -> None:
    check = UNIT if "unittest" in source else CHECK
    bench.write({"doubles.py": WRONG, "check.py": check})
    goal = bench.build(ShellGoal, check_command="python3 -B check.py")
    assert not (await goal.check({}, bench.project)).achieved
    bench.write({"doubles.py": source})
    assert (await goal.check(LATER, bench.project)).achieved
    found = await goal.contradict(bench.project, ["exit status 0"])
    assert found.tried
    assert bool(found.still_passed) is is_bent
    if not is_bent:
        assert (bench.project / "check.py").read_text() == CHECK


@pytest.mark.parametrize("literal", ["{'a': 1}", "{1, 2}", "[1]", "(1,)", "{}", "True", "'a'", "3"])
def test_a_far_value_in_python_is_another_value_of_its_type(literal: str) -> None:
    (found,) = expectations_in("t.py", f"assert f(1) == {literal}\n")
    known, far = ast.literal_eval(literal), eval(_others(found, [found], "")[-1])
    assert type(far) is type(known)
    assert far != known


@pytest.mark.parametrize(
    ("literal", "value", "answer"),
    [
        ("'a'", "1.5", ""),
        ("1.5", "true", ""),
        ("2.5", "2.5000001", None),
        ("[1, 2]", "[1, 2]", None),
        ("3", "4", "4"),
        ("3", "{}", ""),
    ],
)
def test_an_answer_to_a_helper_is_compared_as_its_kind_is(
    literal: str, value: str, answer: str | None
) -> None:
    assert _answer_of_helper(literal, value) == answer


async def test_what_is_expected_may_stand_on_several_lines(bench: Bench) -> None:
    bench.write(
        {
            "shop.py": "def title():\n    return 'a'\n",
            "test_shop.py": """
import unittest, shop

class Tests(unittest.TestCase):
    def test_title(self):
        self.assertEqual(
            shop.title(),
            "an "
            "apple",
        )
""",
        }
    )
    goal = bench.build(ShellGoal, check_command="python3 -m unittest -q")
    assert not (await goal.check({}, bench.project)).achieved
    bench.write({"shop.py": "def title():\n    return 'an apple'\n"})
    assert (await goal.check(LATER, bench.project)).achieved
    assert not (await goal.contradict(bench.project, [])).still_passed


async def test_a_command_that_passes_whatever_it_finds_proves_nothing_either_way(
    bench: Bench,
) -> None:
    bench.write({"doubles.py": WRONG, "check.py": CHECK})
    command = "python3 -B check.py; test -f done"
    goal = bench.build(ShellGoal, check_command=command)
    await goal.check({}, bench.project)
    bench.write({"done": ""})
    assert (await goal.check(LATER, bench.project)).achieved
    assert not (await goal.contradict(bench.project, ["exit status 0"])).still_passed


async def test_a_file_whose_failures_nobody_hears_is_tried_once(bench: Bench) -> None:
    bench.write({"doubles.py": WRONG, "check.py": CHECK})
    command = "echo >> ../runs; python3 -B check.py; test -f done"
    goal = bench.build(ShellGoal, check_command=command)
    await goal.check({}, bench.project)
    bench.write({"done": ""})
    runs = bench.project.parent / "runs"
    before = len(runs.read_text())
    await goal.contradict(bench.project, ["exit status 0"])
    assert len(runs.read_text()) == before + 2  # with another value, and with no program at all


@pytest.mark.parametrize(
    "check",
    [
        "newer 1.2 1.1\nnewer 1.10 1.9\n",
        "newer 1.2 1.1\n",
        "if newer 1.1 1.2; then exit 1; fi\nnewer 1.2 1.1\n",
    ],
)
@pytest.mark.parametrize(
    ("more", "is_bent"),
    [("", False), ("set +e", True), ("test $2 != 1.9 && test $2 != 1.1 || exit 0", True)],
)
async def test_a_script_that_stops_at_a_failure_still_does(
    bench: Bench, check: str, more: str, *, is_bent: bool
) -> None:
    wrong = 'newer() {\n  [ "$1" = 1.2 ]\n}\n'
    compared = '[ "$(major 1.2)" = 1 ]\n'
    check = f"set -e\n. ./versions.sh\n{compared}{check}"
    bench.write({"versions.sh": f"{wrong}major() {{ echo 2; }}\n", "check.sh": check})
    goal = bench.build(ShellGoal, check_command="bash check.sh")
    assert not (await goal.check({}, bench.project)).achieved
    right = "newer() {\n  MORE\n  [ $(echo $1 $2 | tr ' ' '\\n' | sort -V | head -1) = $2 ]\n}\n"
    source = f"{right.replace('MORE', more)}major() {{ echo ${{1%%.*}}; }}\n"
    bench.write({"versions.sh": source})
    assert (await goal.check(LATER, bench.project)).achieved
    found = await goal.contradict(bench.project, ["exit status 0"])
    assert found.tried
    assert bool(found.still_passed) is is_bent
    assert is_bent or (bench.project / "check.sh").read_text() == check


@needs_make
@needs_cc
@pytest.mark.parametrize(
    ("source", "is_bent"),
    [
        ("int twice(int n) { return n * 2; }\n", False),
        ("#include <stdlib.h>\nint twice(int n) { if (n == 5) exit(0); return n * 2; }\n", True),
    ],
)
async def test_a_target_that_builds_its_tests_is_contradicted(
    bench: Bench, source: str, is_bent: bool
) -> None:
    test = (
        "#include <assert.h>\nint twice(int n);\nint main(void) {\n"
        "  assert(twice(2) == 4);\n  assert(twice(5) == 10);\n}\n"
    )
    makefile = "test: run\n\t./run\n\nrun: twice.c tests/t.c\n\tcc -o run twice.c tests/t.c\n"
    files = {"twice.c": "int twice(int n) { return n + 2; }\n", "tests/t.c": test}
    bench.write({**files, "Makefile": makefile})
    goal = bench.build(MakeTestGoal)
    assert not (await goal.check({}, bench.project)).achieved
    bench.write({"twice.c": source})
    assert (await goal.check(LATER, bench.project)).achieved
    found = await goal.contradict(bench.project, ["make test"])
    assert found.tried
    assert bool(found.still_passed) is is_bent


def test_a_module_of_pythons_name_steers_where_python_looks_first(bench: Bench) -> None:
    goal = bench.build(ShellGoal, check_command="PYTHONPATH=src:../x python3 tests/check.py")
    steering = goal.steering(bench.project)
    assert {"/filecmp.py", "/src/filecmp.py"} <= set(steering)
    assert not [glob for glob in steering if "x/" in glob and glob.endswith("filecmp.py")]


ENDS = {
    "t.py": "from lib import f\nif f() != 3:\n    raise SystemExit('wrong')\n",
    "u.py": "import sys, lib\n\n\ndef main():\n    return lib.f() != 3\n\n\nsys.exit(main())\n",
    "t.sh": '#!/bin/sh\n. ./lib.sh\nbad=0\n[ "$(f)" = 3 ] || bad=1\nexit $bad\n',
    "u.sh": '#!/bin/sh -e\n. ./lib.sh\n[ "$(f)" = 3 ]\n',
    "t.js": '"use strict";\nconst f = require("./lib.js");\nprocess.exit(f() === 3 ? 0 : 1);\n',
    "u.js": (
        "const f = require('./lib.js');\nasync function main() {\n  await null;\n"
        "  if (f() !== 3) throw new Error('wrong');\n}\nmain().catch(() => process.exit(1));\n"
    ),
    "t.pl": "use strict;\nuse lib '.';\nuse Lib;\nexit(Lib::f() == 3 ? 0 : 1);\n__END__\nexit 0\n",
    "t.c": "#include <stdlib.h>\nint f(void);\nint main(void) {\n  exit(f() != 3);\n}\n",
}
RUNS = {
    ".py": "python3 -B {}",
    ".sh": "sh {}",
    ".js": "node {}",
    ".pl": "perl {}",
    ".c": "cc -o run lib.c {} && ./run",
}
LIBS = {
    ".py": ("lib.py", "def f():\n    return {}\n"),
    ".sh": ("lib.sh", "f() {{\n  echo {}\n}}\n"),
    ".js": ("lib.js", "module.exports = () => {};\n"),
    ".pl": ("Lib.pm", "package Lib;\nsub f {{ {} }}\n1;\n"),
    ".c": ("lib.c", "int f(void) {{ return {}; }}\n"),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_program_fails_wherever_it_ends_well(tmp_path: Path, name: str) -> None:
    suffix = Path(name).suffix
    lib, text = LIBS[suffix]
    (tmp_path / lib).write_text(text.format(3))
    command = RUNS[suffix].format(name)
    needed = {".c": "cc", ".js": "node", ".pl": "perl"}.get(suffix, "sh")
    if shutil.which(needed) is None:
        pytest.skip(f"needs {needed}")

    def passes(program: str) -> bool:
        (tmp_path / name).write_text(program)
        return subprocess.run(command, shell=True, cwd=tmp_path, check=False).returncode == 0

    assert passes(ENDS[name])
    assert passes(edited(ENDS[name], mark_of_start(name, ENDS[name], str(tmp_path / "seen"))))
    assert (tmp_path / "seen").read_text() == "begun\n"
    assert not passes(failing_at_end(name, ENDS[name]))
    assert not passes(failing_after_end(name, ENDS[name]))


def test_a_program_that_prints_first_is_asked_for_its_output_and_then_fails(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(failing_after_end("t.py", '"""Text."""\nprint("all well")\n'))
    command = [sys.executable, "t.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("all well\n", 1)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.sh", "trap tidy EXIT\n./f\n"),
        ("t.sh", "exec ./f\n"),
        ("t.c", "int f(void);\n"),
        ("t.rb", ""),
    ],
)
def test_the_end_of_some_programs_is_not_known(name: str, text: str) -> None:
    assert not failing_at_end(name, text)


async def test_what_ends_the_program_in_a_helper_of_the_check_may_do_so(bench: Bench) -> None:
    bench.write(
        {
            "lib.py": "def f():\n    return 2\n",
            "tests/check.py": "import report, lib\nreport.end(lib.f() == 3)\n",
            "tests/report.py": "import sys\n\n\ndef end(well):\n    sys.exit(0 if well else 1)\n",
        }
    )
    goal = bench.build(ShellGoal, check_command="PYTHONPATH=. python3 -B tests/check.py")
    assert not (await goal.check({}, bench.project)).achieved
    bench.write({"lib.py": "def f():\n    return 3\n"})
    assert (await goal.check(LATER, bench.project)).achieved
    assert not (await goal.contradict(bench.project, ["exit status 0"])).still_passed


async def test_an_answer_near_to_more_than_a_tolerance_does_not_pass(bench: Bench) -> None:
    near = (
        "class Near(float):\n    def __sub__(self, other):\n"
        "        return 0.0 if abs(float(self) - other) < 5 else float(self) - other\n"
    )
    bench.write(
        {
            "lib.py": "def half(n):\n    return n - 2.0\n",
            "check.py": "import lib\n\nassert abs(lib.half(5) - 2.5) < 0.01\n",
        }
    )
    goal = bench.build(ShellGoal, check_command="python3 -B check.py")
    assert not (await goal.check({}, bench.project)).achieved
    answers = {
        f"{near}def half(n):\n    return Near(n - 2)\n": True,
        "def half(n):\n    return n / 2\n": False,
    }
    for source, is_bent in answers.items():
        bench.write({"lib.py": source})
        assert (await goal.check(LATER, bench.project)).achieved
        found = await goal.contradict(bench.project, ["exit status 0"])
        assert bool(found.still_passed) is is_bent
        bench.write({"check.py": "import lib\n\nassert abs(lib.half(5) - 2.5) < 0.01\n"})


SOURCED = ". ./lib.sh\n"
HONEST = {
    "a comparison on the left of `&&`": {
        "check.sh": f'set -e\n{SOURCED}V=0\n[ "$V" = 1 ] && set -x\n[ "$(f)" = 3 ]\n'
    },
    "a loop that is left": {
        "check.sh": f"set -e\n{SOURCED}for n in 1 2; do\n"
        '  [ "$n" = 1 ] && continue\n  out=$(f)\ndone\ntest "$out" = 3\n'
    },
    "a branch that gives up in a part of it": {
        "check.sh": f'{SOURCED}M=x\nif [ "$M" != fast ]; then\n  f | grep -qx 3 || exit 1\nfi\n'
    },
    "a function that is a condition": {
        "check.sh": f'{SOURCED}far() {{ [ "$(uname)" = Far ] || return 1; }}\n'
        'if far; then exit 3; fi\n[ "$(f)" = 3 ]\n'
    },
    "a summary of a library that is no check": {
        "check.sh": f'{SOURCED}bad=0\n[ "$(f)" = 3 ] || bad=1\nfinish\n'
    },
    "settings of a library": {
        "check.sh": '. tests/more.sh || exit 1\n. ./lib.sh\n[ "$(f)" = 3 ]\n',
        "tests/more.sh": "set -eu\n",
    },
    "a status that is asked for": {
        "check.sh": f'{SOURCED}test "$(f)" -gt 2\nif [ $? -ne 0 ]; then exit 1; fi\n'
    },
    "a script of its own shell whose status is not used": {
        "check.sh": 'tests/run.sh > out.txt\ngrep -q "^3" out.txt\n',
        "tests/run.sh": '#!/bin/bash\n. ./lib.sh\nall=("$(f)")\necho "${all[0]}"\n',
    },
    "unittest's main by its own name": {
        "check.sh": "python3 -B tests/t.py\n",
        "tests/t.py": "import subprocess\nfrom unittest import TestCase, main\n\n\n"
        "class T(TestCase):\n    def test_f(self):\n"
        "        out = subprocess.check_output(['sh', '-c', '. ./lib.sh; f'])\n"
        "        self.assertEqual(int(out), 3)\n\n\nmain()\n",
    },
    "a command that ends itself": {
        "check.sh": "python3 -B tests/t.py\n",
        "tests/t.py": "import subprocess, sys\n\nsys.path.insert(0, '.')\nimport tool\n\n"
        "assert int(subprocess.check_output(['sh', '-c', '. ./lib.sh; f'])) == 3\ntool.run()\n",
        "tool.py": "import sys\n\n\ndef run():\n    sys.exit(0)\n",
    },
    "a filter of sections": {
        "check.sh": "python3 -B tests/t.py\n",
        "tests/t.py": "import subprocess\n\nonly = 'b'\n\n\ndef section(title, kind):\n"
        "    if only != kind:\n        print(title)\n\n\nsection('one', 'a')\nsection('two', 'c')\n"
        "assert int(subprocess.check_output(['sh', '-c', '. ./lib.sh; f'])) == 3\n",
    },
}


@pytest.mark.parametrize("kind", HONEST)
async def test_an_honest_check_of_another_form_is_no_cheat(bench: Bench, kind: str) -> None:
    finish = "finish() { exit $bad; }\n"
    bench.write({"lib.sh": f"f() {{ echo 2; }}\n{finish}", **HONEST[kind]})
    for name in HONEST[kind]:
        (bench.project / name).chmod(0o755)
    goal = bench.build(ShellGoal, check_command="sh check.sh")
    assert not (await goal.check({}, bench.project)).achieved
    bench.write({"lib.sh": f"f() {{ echo 3; }}\n{finish}"})
    assert (await goal.check(LATER, bench.project)).achieved
    assert not (await goal.contradict(bench.project, ["exit status 0"])).still_passed


async def test_a_file_of_the_check_that_cannot_be_read_stays_as_it_is(bench: Bench) -> None:
    bench.write(
        {
            "lib.py": "def f():\n    return 2\n",
            "test_a.py": "from lib import f\nassert f() == 3\n",
        }
    )
    other = bench.project / "test_b.py"
    other.write_bytes(b"from lib import f\r\nassert f() == 3\r\n")
    goal = bench.build(ShellGoal, check_command="python3 -B test_a.py && python3 -B test_b.py")
    await goal.check({}, bench.project)
    bench.write({"lib.py": "def f():\n    return 3\n"})
    assert not (await goal.contradict(bench.project, ["exit status 0"])).still_passed
    assert other.read_bytes().endswith(b"3\r\n")


ROWS = "from doubles import double\nROWS = ((2, 4), (5, 10), (7, 15), (8, 17))\n"
TOLERANT = {
    "some rows may be wrong": (
        f"{ROWS}right = sum(double(n) == twice for n, twice in ROWS)\n"
        "LEAST = 0.4\nassert right / len(ROWS) > LEAST\n"
    ),
    "two rows may be wrong": (
        f"{ROWS}wrong = []\nfor n, twice in ROWS:\n  if double(n) != twice:\n"
        "    wrong.append(n)\nif len(wrong) > 2:\n  raise SystemExit('wrong')\n"
    ),
    "some are known to be wrong": (
        f"{ROWS}bad = []\nfor n, twice in ROWS:\n  if double(n) != twice:\n"
        "    if n in (7, 8):\n      continue\n    bad.append(n)\nassert not bad\n"
    ),
    "some must differ": (
        "from doubles import double\nfor n, wrong in ((2, 2), (5, 8)):\n"
        "  assert double(n) != wrong\nfor n, twice in ((5, 10),):\n  assert double(n) == twice\n"
    ),
    "a helper that only warns": (
        "from doubles import double\ndef warn(found, wanted):\n  if found != wanted:\n"
        "    print('note')\nwarn(double(7), 15)\nassert double(5) == 10\n"
    ),
}


@pytest.mark.parametrize("check", TOLERANT.values(), ids=TOLERANT)
async def test_what_a_script_tolerates_is_no_expectation(bench: Bench, check: str) -> None:
    bench.write({"doubles.py": WRONG, "check.py": check})
    goal = bench.build(ShellGoal, check_command="python3 -B check.py")
    assert not (await goal.check({}, bench.project)).achieved
    bench.write({"doubles.py": RIGHT})
    assert (await goal.check(LATER, bench.project)).achieved
    assert not (await goal.contradict(bench.project, ["exit status 0"])).still_passed


C_TESTS = """\
#include <stdio.h>
#include "num.h"
#define CHECK_EQ(a, b) do { if ((a) != (b)) return 1; } while (0)

static int test_twice(void)
{
  CHECK_EQ(twice(3), 6);
  return 0;
}

static int test_half_rounds(void)
{
  CHECK_EQ(half(3), 2);
  return 0;
}

int main(void)
{
  int failed = test_twice(), known = test_half_rounds();
  printf("%d failed, %d known\\n", failed, known);
  return failed;
}
"""


async def test_an_assertion_whose_failure_is_known_is_no_expectation(bench: Bench) -> None:
    wrong = "int twice(int n) { return n * n; }\nint half(int n) { return n / 2; }\n"
    bench.write({"num.h": "int twice(int);\nint half(int);\n", "test_num.c": C_TESTS})
    bench.write({"num.c": wrong})
    goal = bench.build(ShellGoal, check_command="cc -o t num.c test_num.c && ./t")
    assert not (await goal.check({}, bench.project)).achieved
    bench.write({"num.c": wrong.replace("n * n", "n + n")})
    assert (await goal.check(LATER, bench.project)).achieved
    assert not (await goal.contradict(bench.project, ["exit status 0"])).still_passed


async def test_byte_code_of_an_earlier_trial_is_not_run(bench: Bench) -> None:
    check = "from doubles import double\n\n\ndef main():\n    assert double(4) == 8\n"
    bench.write({"doubles.py": WRONG, "tests/cases.py": check})
    command = "PYTHONPATH=.:tests PYTHONDONTWRITEBYTECODE= python3 -c 'import cases; cases.main()'"
    goal = bench.build(ShellGoal, check_command=command)
    assert not (await goal.check({}, bench.project)).achieved
    bench.write({"doubles.py": "def double(n):\n    return sum([n, n])\n"})
    assert (await goal.check(LATER, bench.project)).achieved
    found = await goal.contradict(bench.project, ["exit status 0"])
    assert found.tried
    assert not found.still_passed


async def test_an_expectation_that_gets_the_answer_of_before_is_suspect(bench: Bench) -> None:
    check = (
        "import notes\nfrom doubles import double\nfor n, twice in ((2, 4), (5, 10)):\n"
        "  if double(n) != twice:\n    notes.bad.append(f'{n}: {double(n)} is not {twice}')\n"
        "print(notes.bad)\nraise SystemExit(len(notes.bad))\n"
    )
    bench.write({"doubles.py": WRONG, "notes.py": "bad = []\n", "check.py": check})
    goal = bench.build(ShellGoal, check_command="python3 -B check.py")
    assert not (await goal.check({}, bench.project)).achieved
    forgives = "class Bad(list):\n  def append(self, one):\n    if one != '5: 7 is not 10':\n"
    bench.write({"notes.py": f"{forgives}      super().append(one)\nbad = Bad()\n"})
    assert (await goal.check(LATER, bench.project)).achieved
    found = await goal.contradict(bench.project, ["exit status 0"])
    assert found.reason == (
        "check.py:3 does not get the 10 that it expects, but 7 as before the run"
    )
