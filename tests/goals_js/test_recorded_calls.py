"""What the project's code answers its tests, with every runner: recorded, and played again."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from retrai_core import GoalResult, RecordedCall
from retrai_goals_js.bun_test import BunTestGoal
from retrai_goals_js.npm_test import NpmTestGoal

from ..goal_bench import Bench
from .conftest import link_runners, needs_bun, needs_npm, needs_runners
from .projects import PROJECTS, RIGHT, WRONG

MARKS = {"bun": needs_bun, "node": needs_npm}
RUNNERS = [pytest.param(name, marks=MARKS.get(name, needs_runners)) for name in PROJECTS]
CASE = "src/total.test.js::total::adds all"
PACKAGE = '{"name": "purse", "scripts": {"test": "node --test"}}'
COMMON_TEST = """\
'use strict';
const test = require('node:test');
const assert = require('node:assert');
%s

test('it', %s);
"""


class Project:
    """A project, its goal, and a copy of it as the final verification has one."""

    def __init__(self, bench: Bench, files: dict[str, str], runner: str = "node") -> None:
        self.bench, self.runner = bench, runner
        bench.write(files)
        if runner in ("jest", "vitest", "mocha"):
            link_runners(bench.project)
        self.goal: Any = bench.build(BunTestGoal if runner == "bun" else NpmTestGoal)

    async def baseline(self) -> GoalResult:
        return await self.goal.check({}, self.bench.project)

    def copy(self, name: str) -> Path:
        copy = self.bench.project.parent / name / "project"
        shutil.copytree(self.bench.project, copy, symlinks=True)
        return copy

    async def check_copy(self) -> GoalResult:
        return await self.goal.check({"iteration": 1}, self.copy("new"))

    async def signs(self) -> list[tuple[str, bool]]:
        found = await self.goal.audit_environment(self.bench.project, 0.0)
        return [(each.what, each.reaches_runner) for each in found]


def _seen(calls: list[RecordedCall]) -> list[tuple[str, str, str]]:
    return [(each.case, each.call, each.answer) for each in calls]


@pytest.mark.parametrize("name", RUNNERS)
async def test_calls_of_failing_tests_are_recorded_and_played_again(
    name: str, bench: Bench
) -> None:
    project = Project(bench, dict(PROJECTS[name]), name)
    before = (await project.baseline()).calls
    old = project.copy("old")
    bench.replace("src/total.js", WRONG, RIGHT)
    tested = (bench.project / "src/total.test.js").read_bytes()
    after = (await project.check_copy()).calls
    assert _seen(list(before)) == [(CASE, "total([ 1, 2, 3 ])", "3")]
    assert _seen(list(after)) == [(CASE, "total([ 1, 2, 3 ])", "6")]
    assert all(each.plain and each.replay for each in (*before, *after))
    assert await project.signs() == []
    assert (bench.project.parent / "new/project/src/total.test.js").read_bytes() == tested
    answers = [
        await project.goal.replay_calls(copy, after, neighbors=4, timeout_s=60)
        for copy in (old, project.copy("again"))
    ]
    assert [each[0].answer for each in answers] == ["3", "6"]
    assert [each.call for each in answers[0][1:]] == [each.call for each in answers[1][1:]]
    assert {each.case for each in answers[0][1:]} == {""}


SOURCES = {
    "a promise": (
        "exports.price = async (units) => units * 2;",
        "const { price } = require('../price.js');",
        "async () => { assert.strictEqual(await price(4), 12); }",
        [("price(4)", "resolves 8")],
    ),
    "an error": (
        "exports.price = (units) => { throw new RangeError('no ' + units); };",
        "const { price } = require('../price.js');",
        "() => { assert.strictEqual(price(4), 12); }",
        [("price(4)", "throws RangeError('no 4')")],
    ),
    "a changed argument": (
        "exports.add = (found) => { found.push(2); };",
        "const { add } = require('../price.js');",
        "() => { const found = [1]; add(found); assert.deepStrictEqual(found, [1]); }",
        [("add([ 1 ])", "undefined; 1: [ 1, 2 ]")],
    ),
    "an object of a class": (
        """exports.Cart = class Cart {
          #all = 0;
          constructor(unit) { this.unit = unit; }
          add(n) { this.#all += n * this.unit; return this; }
          get total() { return this.#all; }
        };""",
        "const { Cart } = require('../price.js');",
        "() => { assert.strictEqual(new Cart(2).add(4).total, 12); }",
        [
            ("Cart(2)", "Cart { unit: 2 }"),
            ("(Cart { unit: 2 }).add(4)", "Cart { unit: 2 }"),
            ("(Cart { unit: 2 }).total", "8"),
        ],
    ),
    "an object that can be iterated": (
        """exports.Days = class Days {
          #last;
          constructor(last) { this.#last = last; }
          *[Symbol.iterator]() { for (let day = 1; day < this.#last; day += 1) yield day; }
          [Symbol.toPrimitive]() { return this.#last; }
        };""",
        "const { Days } = require('../price.js');",
        "() => { const days = new Days(3); assert.deepEqual([+days, ...days], [3, 1, 2, 3]); }",
        [
            ("Days(3)", "Days {}"),
            ("(Days {})[Symbol.toPrimitive]('number')", "3"),
            ("(Days {})[Symbol.iterator]()", "yields 1, 2"),
        ],
    ),
    "a generator that is not asked for all": (
        "exports.odd = function* () { for (let n = 1; ; n += 2) yield n; };",
        "const { odd } = require('../price.js');",
        "() => { for (const n of odd()) { if (n > 2) assert.strictEqual(n, 4); } }",
        [("odd()", "yields 1, 3")],
    ),
    "an asynchronous generator": (
        "exports.odd = async function* () { yield 1; throw new RangeError('no more'); };",
        "const { odd } = require('../price.js');",
        "async () => { for await (const n of odd()) assert.strictEqual(n, 1); }",
        [("odd()", "yields 1, throws RangeError('no more')")],
    ),
    "an iterator without a generator": (
        """exports.once = (n) => ({
          [Symbol.iterator]() { return this; },
          next() { return { done: n < 1, value: n-- }; },
        });""",
        "const { once } = require('../price.js');",
        "() => { assert.deepStrictEqual([...once(1)], [2]); }",
        [("once(1)", "yields 1")],
    ),
    "a function as the module": (
        "module.exports = (units) => units * 2;",
        "const price = require('../price.js');",
        "() => { assert.strictEqual(price(4), 12); }",
        [("price.js(4)", "8")],
    ),
    "a callback is not followed": (
        "exports.each = (items, tell) => items.map(tell);",
        "const { each } = require('../price.js');",
        "() => { assert.deepStrictEqual(each([1], (x) => x), [2]); }",
        [],
    ),
}


@needs_npm
@pytest.mark.parametrize("kind", SOURCES)
async def test_what_came_back_is_written_down(kind: str, bench: Bench) -> None:
    source, imports, body, expected = SOURCES[kind]
    files = {"package.json": PACKAGE, "price.js": source}
    project = Project(bench, {**files, "test/price.test.js": COMMON_TEST % (imports, body)})
    calls = (await project.baseline()).calls
    assert [(each.call, each.answer) for each in calls] == expected


@needs_npm
async def test_a_file_may_declare_an_expect_of_its_own(bench: Bench) -> None:
    own = "const { expect } = { expect: (one) => ({ is: (two) => assert.equal(one, two) }) };"
    source = "exports.price = (units) => units * 2;"
    test = COMMON_TEST % (
        f"{own} const {{ price }} = require('../price.js');",
        "() => { expect(price(4)).is(12); }",
    )
    files = {"package.json": PACKAGE, "price.js": source, "test/price.test.js": test}
    calls = (await Project(bench, files).baseline()).calls
    assert [(each.call, each.answer) for each in calls] == [("price(4)", "8")]


PRICE = "exports.price = (units) => units * 2;\n"
PRICED = COMMON_TEST % (
    "const { price } = require('../price.js');",
    "() => { assert.strictEqual(price(4), 12); }",
)
GOOD = PRICE.replace("* 2", "* 3")


@needs_npm
@pytest.mark.parametrize(
    ("added", "sign"),
    [
        ("const json = JSON; json.parse = () => 1;", ("price.js replaces JSON.parse", True)),
        (
            "const kept = 'trim'; String.prototype[kept] = () => '';",
            ("price.js replaces String.prototype.trim", False),
        ),
        ("process.chdir('/');", ("price.js changes the working folder", False)),
        (
            "Promise.resolve().then(() => { Math.max = () => 1; });",
            ("Math.max is replaced while the tests run", False),
        ),
        (
            "Array.prototype.total = function () { return 1; };",
            ("price.js adds Array.prototype.total", False),
        ),
        (
            "Object.defineProperty(RangeError, Symbol.hasInstance, { value: () => true });",
            ("price.js adds RangeError.Symbol(Symbol.hasInstance)", False),
        ),
        ("require('worker_threads');", None),  # node replaces process.chdir then
        ("Array.prototype.price = () => 1; if (!Array.prototype.at) Array.prototype.at = 1;", None),
    ],
)
async def test_what_the_source_replaces_is_told(
    added: str, sign: tuple[str, bool] | None, bench: Bench
) -> None:
    files = {"package.json": PACKAGE, "price.js": PRICE, "test/price.test.js": PRICED}
    project = Project(bench, files)
    await project.baseline()
    bench.write({"price.js": f"{added}\n{GOOD}"})
    assert (await project.check_copy()).achieved
    assert await project.signs() == ([sign] if sign else [])


@needs_npm
async def test_what_was_replaced_before_the_run_is_no_sign(bench: Bench) -> None:
    fast = "const { parse } = JSON; JSON.parse = (text) => parse(text);\n"
    files = {"package.json": PACKAGE, "price.js": fast + PRICE, "test/price.test.js": PRICED}
    project = Project(bench, files)
    await project.baseline()
    bench.write({"price.js": fast + GOOD})
    assert (await project.check_copy()).achieved
    assert await project.signs() == []


PLAYED = {
    "fixtures of tests can be read": (
        "try { return fs.readFileSync('test/data/price.txt', 'utf8'); } catch { return null; }",
        "'8'",
    ),
    "an effect outside is unknown, also where the error is caught": (
        "try { fs.writeFileSync('bill', '8'); return 1; } catch { return null; }",
        "",
    ),
    "a file that is opened to be written is unknown": (
        "try { return fs.openSync('bill', 'w') && 1; } catch { return null; }",
        "",
    ),
    "a program that is started is unknown": (
        "try { return `${require('child_process').execSync('ls')}`; } catch { return null; }",
        "",
    ),
    "tests are not to be seen": ("return fs.existsSync('test/price.test.js');", "false"),
    "variables of a run are not to be seen": (
        "return Object.keys(process.env).filter((name) => /^(npm_|CI|NODE_|INIT)/.test(name));",
        "[]",
    ),
    "the process has run for an hour": (
        "return process.uptime() > 3600 && performance.now() > 3_600_000;",
        "true",
    ),
    "a loop without an end is ended": ("for (;;);", ""),
}


@needs_npm
@pytest.mark.parametrize("kind", PLAYED)
async def test_outside_of_tests_only_answers_count(kind: str, bench: Bench) -> None:
    body, expected = PLAYED[kind]
    source = f"const fs = require('node:fs');\nexports.price = () => {{ {body} }};\n"
    files = {"package.json": PACKAGE, "price.js": source, "test/price.test.js": PRICED}
    project = Project(bench, {**files, "test/data/price.txt": "8"})
    again = '{"path": "price.js", "name": "price", "args": "/w9BACQAAA=="}'
    call = RecordedCall("test/price.test.js::it", "price()", "1", again, plain=True)
    found = await project.goal.replay_calls(project.copy("old"), [call], neighbors=0, timeout_s=60)
    assert [each.answer for each in found] == ([expected] if expected else [])


@needs_npm
async def test_a_suite_that_does_not_bear_the_recorder_is_run_without_it(bench: Bench) -> None:
    files = {"package.json": PACKAGE, "price.js": PRICE}
    reads = "const { price } = require('../price.js');"
    itself = "require('node:fs').readFileSync(__filename, 'utf8').includes('retraiRec' + 'order')"
    body = f"() => {{ assert.strictEqual(price(4), 12); assert.ok(!{itself}); }}"
    test = COMMON_TEST % (reads, body)
    project = Project(bench, {**files, "test/price.test.js": test})
    await project.baseline()
    bench.write({"price.js": GOOD})
    result = await project.check_copy()
    assert result.achieved, result.details


@needs_npm
async def test_tests_of_a_table_are_followed_and_those_of_one_name_are_not(bench: Bench) -> None:
    table = """\
for (const units of [4, 5]) {
  test(`${units} units`, () => { assert.strictEqual(price(units), units * 3); });
  test('some units', () => { assert.strictEqual(price(units), units * 3); });
}
"""
    test = PRICED.partition("test('it'")[0] + table
    project = Project(bench, {"package.json": PACKAGE, "price.js": PRICE, "test/a.test.js": test})
    calls = (await project.baseline()).calls
    assert _seen(list(calls)) == [
        ("test/a.test.js::4 units", "price(4)", "8"),
        ("test/a.test.js::5 units", "price(5)", "10"),
    ]


@needs_npm
@pytest.mark.parametrize(
    ("converted", "signs"),
    [
        (
            "hint === 'number' ? 8 : 12",
            [("price.js: price answers with an object whose conversions give two values", True)],
        ),
        ("hint === 'string' ? '12 units' : 12", []),
    ],
)
async def test_an_object_that_converts_to_two_numbers_is_told(
    converted: str, signs: list[tuple[str, bool]], bench: Bench
) -> None:
    test = PRICED.replace("strictEqual", "equal")
    files = {"package.json": PACKAGE, "price.js": PRICE, "test/price.test.js": test}
    project = Project(bench, files)
    await project.baseline()
    price = f"class Price {{ [Symbol.toPrimitive](hint) {{ return {converted}; }} }}\n"
    bench.write({"price.js": f"{price}exports.price = () => new Price();\n"})
    assert (await project.check_copy()).achieved
    assert await project.signs() == signs


CLOCK = "class Timer { [Symbol.toPrimitive]() { return Number(process.hrtime.bigint()); } }\n"
MATCHING = "class Like { asymmetricMatch(other) { return other > 8; } valueOf() { return 12; } }\n"
DECIDES = "price.js: price answers with an object that decides what it equals by asymmetricMatch"


@needs_npm
@pytest.mark.parametrize(
    ("before", "after", "signs"),
    [
        (
            PRICE,
            f"{CLOCK}exports.price = () => new Timer();\n",
            [],
        ),
        (PRICE, f"{MATCHING}exports.price = () => new Like();\n", [(DECIDES, True)]),
        (
            f"{MATCHING}exports.price = () => {{ throw new Error(); }};\n",
            f"{MATCHING}exports.price = () => new Like();\n",
            [(DECIDES, False)],
        ),
    ],
    ids=["a clock", "a new class of matchers", "a class of matchers from before the run"],
)
async def test_objects_that_decide_what_they_equal_are_told(
    before: str, after: str, signs: list[tuple[str, bool]], bench: Bench
) -> None:
    test = PRICED.replace("assert.strictEqual(price(4), 12)", "assert.ok(price(4) > 9)")
    files = {"package.json": PACKAGE, "price.js": before, "test/price.test.js": test}
    project = Project(bench, files)
    await project.baseline()
    bench.write({"price.js": after})
    assert (await project.check_copy()).achieved
    assert await project.signs() == signs


@needs_npm
async def test_only_a_test_that_is_recorded_must_end_as_without_the_recorder(bench: Bench) -> None:
    itself = "require('node:fs').readFileSync(__filename, 'utf8').includes('retraiRec' + 'order')"
    notices = f"test('other', () => {{ assert.ok(!{itself}); }});\n"
    files = {"package.json": PACKAGE, "price.js": PRICE, "test/a.test.js": PRICED + notices}
    project = Project(bench, files)
    assert _seen(list((await project.baseline()).calls)) == [
        ("test/a.test.js::it", "price(4)", "8")
    ]
    also = PRICED.replace("assert.strictEqual(", f"assert.ok(!{itself}); assert.strictEqual(")
    bench.write({"test/b.test.js": also})
    await project.baseline()
    bench.write({"price.js": GOOD})
    assert (await project.check_copy()).achieved
    ends = "test/b.test.js ends otherwise where its calls are recorded"
    assert await project.signs() == [(ends, False)]
