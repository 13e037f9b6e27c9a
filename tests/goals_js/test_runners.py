"""Both goals with every runner, the real one: cases, failures, early ends, twins."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import retrai_goals_js
from retrai_goals_js.bun_test import BunTestGoal
from retrai_goals_js.npm_test import NpmTestGoal

from ..goal_bench import Bench
from .conftest import link_runners, needs_bun, needs_npm, needs_runners
from .projects import CASES, PROJECTS, RIGHT, WRONG

MARKS = {"bun": needs_bun, "node": needs_npm}
RUNNERS = [pytest.param(name, marks=MARKS.get(name, needs_runners)) for name in PROJECTS]
FILE = "src/total.test.js"


class Runner:
    """A project of one runner, and its goal."""

    def __init__(self, name: str, bench: Bench) -> None:
        self.name = name
        self.bench = bench
        bench.write(PROJECTS[name])
        if name in ("jest", "vitest", "mocha"):
            link_runners(bench.project)

    def goal(self, **options: Any) -> Any:
        return self.bench.build(BunTestGoal if self.name == "bun" else NpmTestGoal, **options)

    async def check(self, **options: Any) -> Any:
        return await self.goal(**options).check({}, self.bench.project)

    def fix(self) -> None:
        self.bench.replace("src/total.js", WRONG, RIGHT)


@pytest.fixture(params=RUNNERS)
def runner(request: pytest.FixtureRequest, bench: Bench) -> Runner:
    return Runner(request.param, bench)


async def test_every_test_is_a_case_with_what_was_compared(runner: Runner) -> None:
    assert await runner.goal().ready() is None
    result = await runner.check()
    outcomes = ("failed", "passed", "skipped", "passed")
    expected = {f"{FILE}::{case}": outcome for case, outcome in zip(CASES, outcomes, strict=True)}
    assert dict(result.report.cases) == expected
    assert result.report.complete
    assert result.reason == "1 of 4 tests fails, 1 skipped"
    assert f"FAILED {FILE}::total::adds all" in result.details
    assert "6" in result.details
    assert "3" in result.details
    assert str(runner.bench.project) not in result.details
    assert "node_modules" not in result.details


async def test_mended_sources_achieve_it_and_leave_no_files(runner: Runner) -> None:
    runner.fix()
    before = {path for path in runner.bench.project.rglob("*") if "node_modules" not in path.parts}
    result = await runner.check()
    assert result.achieved, result.details
    assert result.reason == "3 tests pass, 1 skipped"
    after = {path for path in runner.bench.project.rglob("*") if "node_modules" not in path.parts}
    assert after == before


async def test_a_process_that_ends_itself_is_no_success(runner: Runner) -> None:
    runner.fix()
    runner.bench.replace("src/total.js", RIGHT, f"process.exit(0);\n  {RIGHT}")
    result = await runner.check()
    assert not result.achieved
    cases = result.report.cases
    assert not result.report.complete or cases.get(f"{FILE}::total::adds all") != "passed"


async def test_a_process_that_ends_while_it_is_loaded_is_no_success(runner: Runner) -> None:
    runner.fix()
    text = (runner.bench.project / "src/total.js").read_text(encoding="utf-8")
    runner.bench.write({"src/total.js": f"{text}\nprocess.exit(0);\n"})
    result = await runner.check()
    assert not result.achieved
    assert not result.report.complete or "error" in result.report.cases.values()


async def test_a_file_that_cannot_be_loaded_is_told_with_its_reason(runner: Runner) -> None:
    runner.bench.replace("src/total.js", WRONG, f"{WRONG} )")
    result = await runner.check()
    assert not result.achieved
    if runner.name == "mocha":  # one such file ends mocha
        assert not result.report.complete
    else:
        assert dict(result.report.cases) == {FILE: "error"}
    assert "total.js" in result.details


async def test_tests_that_never_end_are_ended(runner: Runner) -> None:
    runner.bench.replace("src/total.js", WRONG, "while (true) {}")
    result = await runner.check(timeout_s=3)
    assert not result.achieved
    assert not result.report.complete
    assert "still running after 3 s" in result.reason


async def test_a_twin_with_other_expectations_fails_where_answers_are_real(runner: Runner) -> None:
    runner.fix()
    goal = runner.goal()
    result = await goal.check({}, runner.bench.project)
    passed = [case for case, outcome in result.report.cases.items() if outcome == "passed"]
    found = await goal.contradict(runner.bench.project, passed)
    assert set(found.tried) == set(passed)
    assert list(found.still_passed) == []


async def test_a_field_that_an_expected_object_hides_since_the_run_proves_nothing(
    runner: Runner,
) -> None:
    bench = runner.bench
    bench.replace(FILE, "{ total }", "{ Sum, total }")
    text = (bench.project / FILE).read_text(encoding="utf-8")
    actual, expected = "new Sum(1).twice()", "new Sum(2)"
    line = f"assert.deepStrictEqual({actual}, {expected})"
    if "assert" not in text:
        line = f"expect({actual}).toEqual({expected})"
    tests = {FILE: f'{text}it("is twice as much", () => {{\n  {line};\n}});\n'}
    bench.write(tests)
    exported = "exports.Sum = " if runner.name in ("jest", "mocha") else "export "
    made = "constructor(n) { this.n = n; }\n  twice() { return this; }"
    source = (bench.project / "src/total.js").read_text(encoding="utf-8")
    bench.write({"src/total.js": f"{source}{exported}class Sum {{\n  {made}\n}}\n"})
    goal, case = runner.goal(), f"{FILE}::is twice as much"
    await goal.check({}, bench.project)
    bench.replace("src/total.js", "constructor(n) { this.n", "#n;\n  constructor(n) { this.#n")
    found = await goal.contradict(bench.project, [case])
    assert list(found.still_passed) == [case]
    bench.replace("src/total.js", "this.#n = n", "this.n = n")
    bench.replace("src/total.js", "return this", "return new Sum(2 * this.n)")
    bench.write(tests)
    found = await goal.contradict(bench.project, [case])
    assert (list(found.tried), list(found.still_passed)) == ([case], [])


async def test_more_arguments_reach_the_runner(runner: Runner) -> None:
    known = {"node": "--test-name-pattern=kept", "mocha": "--grep kept"}
    pattern = known.get(runner.name, "-t kept")
    result = await runner.check(args=pattern)
    assert result.achieved, result.details


async def test_a_monorepo_names_the_folder_of_its_package(bench: Bench) -> None:
    bench.write({f"packages/purse/{name}": text for name, text in PROJECTS["node"].items()})
    assert "package.json" in await bench.build(NpmTestGoal).ready()
    goal = bench.build(NpmTestGoal, path="packages/purse")
    assert "src/total.test.js::names are kept" in (await goal.check({}, bench.project)).report.cases


@needs_npm
async def test_a_script_that_calls_another_is_followed(bench: Bench) -> None:
    bench.write(PROJECTS["node"])
    bench.replace("package.json", '"node --test"', '"npm run unit", "unit": "node --test"')
    bench.replace("src/total.js", WRONG, RIGHT)
    result = await bench.build(NpmTestGoal).check({}, bench.project)
    assert result.achieved, result.details


@needs_npm
async def test_a_plain_script_is_one_case_of_nodes_runner(bench: Bench) -> None:
    bench.write({"package.json": PROJECTS["node"]["package.json"]})
    bench.write({"plain.test.js": 'if (1 + 1 !== 2) throw new Error("no");\n'})
    result = await bench.build(NpmTestGoal).check({}, bench.project)
    assert dict(result.report.cases) == {"plain.test.js": "passed"}


@needs_npm
async def test_a_failure_before_a_test_that_never_ends_is_told(bench: Bench) -> None:
    begins = 'import assert from "node:assert";\nimport { describe, it } from "node:test";\n'
    fails = 'describe("sums", () => { it("adds", () => assert.equal(1 + 1, 3)); });\n'
    hangs = 'it("waits", () => new Promise(() => setInterval(() => {}, 1000)));\n'
    bench.write({"package.json": PROJECTS["node"]["package.json"]})
    bench.write({"a.test.js": begins + fails, "b.test.js": begins + hangs})
    result = await bench.build(NpmTestGoal, timeout_s=5).check({}, bench.project)
    assert not result.report.complete
    assert "still running after 5 s" in result.reason
    # The runner may still write down that the file which waits was ended.
    assert result.report.cases["a.test.js::sums::adds"] == "failed"
    assert set(result.report.cases) <= {"a.test.js::sums::adds", "b.test.js"}
    assert "FAILED a.test.js::sums::adds" in result.details
    assert "2 == 3" in result.details


@needs_npm
async def test_a_test_that_is_called_like_its_file_is_a_test(bench: Bench) -> None:
    bench.write({"package.json": PROJECTS["node"]["package.json"]})
    begins = 'import { test } from "node:test";\n'
    bench.write({"a.test.js": f'{begins}test("a.test.js", () => {{}});\n'})
    result = await bench.build(NpmTestGoal).check({}, bench.project)
    assert dict(result.report.cases) == {"a.test.js::a.test.js": "passed"}


@needs_npm
async def test_what_a_file_prints_before_it_fails_to_load_is_told(bench: Bench) -> None:
    bench.write({"package.json": PROJECTS["node"]["package.json"]})
    bench.write({"a.test.js": 'console.error("no such purse");\nthrow new Error("gone");\n'})
    result = await bench.build(NpmTestGoal).check({}, bench.project)
    assert dict(result.report.cases) == {"a.test.js": "error"}
    assert "no such purse" in result.details


@needs_runners
async def test_a_hook_that_fails_stands_for_its_suite(bench: Bench) -> None:
    bench.write(PROJECTS["mocha"])
    link_runners(bench.project)
    bench.replace(FILE, '  it("adds', '  before(() => { throw new Error("boom"); });\n  it("adds')
    result = await bench.build(NpmTestGoal).check({}, bench.project)
    assert result.report.cases[f"{FILE}::total"] == "error"
    assert "boom" in result.details


@needs_runners
async def test_a_snapshot_that_is_not_there_is_not_written(bench: Bench) -> None:
    bench.write(PROJECTS["jest"])
    link_runners(bench.project)
    bench.replace("src/total.js", WRONG, RIGHT)
    bench.replace(FILE, "expect(found).toBe(6)", "expect(found).toMatchSnapshot()")
    result = await bench.build(NpmTestGoal).check({}, bench.project)
    assert result.report.cases[f"{FILE}::total::adds all"] == "failed"
    assert not (bench.project / "src" / "__snapshots__").exists()


MOCHA_3 = """
const runner = new (require('node:events'))();
new (require('./reporter.cjs'))(runner);
const suite = { title: 'total', parent: { title: '', root: true } };
runner.emit('pass', { title: 'adds all', file: 'a.js', parent: suite });
runner.emit('end');
"""


@needs_npm
def test_tests_of_an_old_mocha_are_named_by_their_suites(tmp_path: Path) -> None:
    inside = Path(retrai_goals_js.__file__).parent / "inside"
    shutil.copy(inside / "retrai-reporter-for-mocha.cjs", tmp_path / "reporter.cjs")
    subprocess.run(["node", "-e", MOCHA_3], cwd=tmp_path, check=True)
    (file,) = json.loads((tmp_path / "report").read_text())["testResults"]
    (test,) = file["assertionResults"]
    assert (test["ancestorTitles"], test["title"]) == (["total"], "adds all")
