"""What the goals know without running anything: scripts, protected files, tricks, twins."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from retrai_core import Suspicion
from retrai_core.verification.globs import Globs
from retrai_goal_support.contradictions import contradict_tests
from retrai_goals_js.bun_test import BunTestGoal
from retrai_goals_js.js_audit import audit_js
from retrai_goals_js.js_contradiction import FORMS, compared, failed_line
from retrai_goals_js.new_test_files import loaded_by_none
from retrai_goals_js.node_report import read_node_report
from retrai_goals_js.npm_test import NpmTestGoal
from retrai_goals_js.package_json import PackageJson, find_test_script

from ..goal_bench import Bench
from .conftest import needs_npm


@pytest.mark.parametrize(
    ("line", "runner"),
    [
        ("jest", "jest"),
        ("cross-env NODE_ENV=test jest --coverage", "jest"),
        ("tsc --noEmit && vitest run", "vitest"),
        ("react-scripts test", "jest"),
        ("nyc --reporter=text mocha --recursive", "mocha"),
        ("node --import tsx --test 'test/**/*.ts'", "node"),
        ("tsx --test", "node"),
        ("./node_modules/.bin/jest", "jest"),
        ("node node_modules/jest/bin/jest.js", "jest"),
    ],
)
def test_the_runner_is_found_from_the_script(line: str, runner: str) -> None:
    found = find_test_script(PackageJson(scripts={"test": line}), "test")
    assert not isinstance(found, str), found
    assert found.runner == runner


@pytest.mark.parametrize(
    ("scripts", "problem"),
    [
        ({}, "no script `test`"),
        ({"test": 'echo "Error: no test specified" && exit 1'}, "no script `test`"),
        ({"test": "jest && eslint ."}, "runs more after its tests"),
        ({"test": "ava"}, "none of jest, vitest, mocha and node:test"),
        ({"test": "npm run a", "a": "npm test"}, "call each other"),
        ({"test": "npm test --workspaces --if-present"}, "--option path="),
        ({"test": "npm -ws test"}, "--option path="),
        ({"test": "pnpm -r test"}, "--option path="),
    ],
)
def test_a_script_that_cannot_be_used_is_explained(scripts: dict[str, str], problem: str) -> None:
    found = find_test_script(PackageJson(scripts=scripts), "test")
    assert isinstance(found, str)
    assert problem in found


@needs_npm
async def test_what_is_missing_is_said_before_the_run(bench: Bench) -> None:
    goal = bench.build(NpmTestGoal)
    assert "no package.json" in await goal.ready()
    bench.write({"package.json": "{ not json"})
    assert "not what npm can use" in await goal.ready()
    bench.write({"package.json": '{"scripts": {"test": "mocha-of-ours && jest"}}'})
    assert "npm install" in await goal.ready()
    assert "names no folder" in await bench.build(NpmTestGoal, path="a").ready()


async def test_bun_that_is_missing_is_said_before_the_run(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("BUN_INSTALL", str(tmp_path))
    problem = await bench.build(BunTestGoal).ready()
    assert "bun is not installed" in problem
    assert "npm install -g bun" in problem


def test_projects_are_told_apart(bench: Bench) -> None:
    bench.write({"package.json": '{"scripts": {"test": "jest"}}'})
    assert NpmTestGoal.detect(bench.project) is not None
    assert BunTestGoal.detect(bench.project) is None
    bench.write({"bun.lock": ""})
    assert BunTestGoal.detect(bench.project) is not None
    bench.write({"package.json": '{"scripts": {"build": "jest-like"}}'})
    assert NpmTestGoal.detect(bench.project) is None


def test_tests_and_what_steers_are_protected_and_sources_are_not(bench: Bench) -> None:
    goal = bench.build(NpmTestGoal)
    protected, steering = Globs(goal.protected(bench.project)), Globs(goal.steering(bench.project))
    for path in (
        "src/a.test.ts",
        "src/__tests__/a.js",
        "test/a.js",
        "test-a.js",
        "src/__snapshots__/a.snap",
        "package.json",
        "packages/ui/package.json",
        "tsconfig.json",
        "jest.config.js",
        ".npmrc",
        "bun.lock",
    ):
        assert protected.match(path), path
    for path in ("src/a.ts", "src/latest.ts", "src/contest/a.js", "lib/test-utils.ts", "README.md"):
        assert not protected.match(path), path
        assert not steering.match(path), path
    for path in (
        "vitest.config.mts",
        "bunfig.toml",
        "src/setupTests.js",
        "__mocks__/fs.js",
        ".env",
    ):
        assert steering.match(path), path
    assert not steering.match("src/new.test.ts")


def _is_suspect(found: Suspicion) -> bool:
    return found.reaches_runner or bool(found.sign)


@pytest.mark.parametrize(
    "line",
    [
        'if (process.env.NODE_ENV === "test") return 6;',
        "if (process.env.JEST_WORKER_ID) return 6;",
        'if (typeof expect !== "undefined") {',
        "globalThis.expect = () => ({ toBe() {} });",
        'import { vi } from "vitest";',
        'const text = fs.readFileSync("./total.test.js", "utf8");',
        "delete require.cache[file];",
        "if (import.meta.env.MODE === 'test') return 6;",
        "const fixed = eval(`process.env.${name}`);",
        "process.setUncaughtExceptionCaptureCallback(log);",
        'vm.runInThisContext(fs.readFileSync("x"));',
        'const { total } = require("./notes.txt");',
        'import { total } from "../tests/total.js";',
        'globalThis[Symbol.for("$$jest-matchers-object")].matchers.toBe = pass;',
        'if (__dirname.includes("retrai-final")) return 6;',
    ],
)
def test_source_that_reaches_for_the_runner_is_suspect(
    line: str, diff_of: Callable[[str, str], str]
) -> None:
    assert any(map(_is_suspect, audit_js(diff_of("src/total.ts", line))))
    assert not any(map(_is_suspect, audit_js(diff_of("src/total.test.ts", line))))
    assert not any(map(_is_suspect, audit_js(diff_of("README.md", line))))


@pytest.mark.parametrize(
    ("method", "is_suspect"), [("every() { return true; }", True), ("last() { }", False)]
)
def test_a_list_that_says_what_it_does_not_hold_is_suspect(
    method: str, *, is_suspect: bool
) -> None:
    lines = ["class Rows extends Array {", "  // of a file", f"  {method}", "}"]
    added = "".join(f"+{line}\n" for line in lines)
    diff = f"--- a/rows.js\n+++ b/rows.js\n@@ -0,0 +1,{len(lines)} @@\n{added}"
    assert any(map(_is_suspect, audit_js(diff))) is is_suspect


@pytest.mark.parametrize(
    ("line", "sign"),
    [
        ("exports.quiet = !!process.env.NODE_TEST_CONTEXT;", "unproven"),
        ("const base = process.env.INIT_CWD;", "unproven"),
        ("const SKIPPED = ['.min.js', '.test.js'];", "unproven"),
        ("if (module.register) module.register(app);", "unchanged"),
        ("static [Symbol.hasInstance](one) {", "unchanged"),
        ("process.env.TZ = 'UTC';", "unchanged"),
        ("if (Math.abs(error.actual - error.expected) > 2) throw error;", "unproven"),
        ("if (typeof it === 'function') return 12;", "unproven"),
        ("[Symbol.toPrimitive]: (hint) => (hint === 'default' ? n + 1 : n)", "unproven"),
    ],
)
def test_what_honest_source_does_too_is_suspect_with_other_signs_alone(
    line: str, sign: str, diff_of: Callable[[str, str], str]
) -> None:
    (found,) = audit_js(diff_of("src/log.js", line))
    assert (found.reaches_runner, found.sign) == (False, sign)


@pytest.mark.parametrize(
    "line",
    [
        'it.skip("later", () => {});',
        'xit("later", () => {});',
        'test.only("mine", () => {});',
        "// @ts-ignore",
    ],
)
def test_skips_and_silenced_checkers_are_told(
    line: str, diff_of: Callable[[str, str], str]
) -> None:
    found = audit_js(diff_of("src/total.test.ts", line))
    assert [each.reaches_runner for each in found] == [False]


@pytest.mark.parametrize(
    "line",
    [
        "export const total = (cents: number[]) => cents.reduce((a, b) => a + b, 0);",
        'const latest = items.filter((item) => item.test(value)); // no "test" here',
        'const codes = require("./codes.json");',
        "list.find(typeof test === 'function' ? test : (each) => each === test);",
        "if (Math.max === undefined || a == b) {",
        "const child = { stack: [] };",
        "throw new TypeError(`expected ${name}, got ${typeof value}`);",
        "this.stack.push(node);",
        "console.error(error.stack);",
        "const settings = Object.entries(process.env).filter(([k]) => k.startsWith('APP_'));",
        "return process.env[name] ?? fallback;",
        "const text = Buffer.from(given, 'base64').toString();",
        "return Function(`return (${formula})`)();",
        "const line = 'Dear ' + name + ', welcome';",
        'import rates from "./rates.json";',
        'const latest = require("./contests/latest");',
        "[Symbol.toPrimitive](hint) { return hint === 'string' || hint === 'default' ? a : b; }",
        "const shown = hint === 'default' ? placeholder : hint;",
        "const { assertNever } = require('./asserts');",
    ],
)
def test_plain_source_is_not_remarked_on(line: str, diff_of: Callable[[str, str], str]) -> None:
    assert audit_js(diff_of("src/total.ts", line)) == []


def _added(path: str, *lines: str) -> str:
    body = "".join(f"+{line}\n" for line in lines)
    return f"--- a/{path}\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{body}"


@pytest.mark.parametrize(
    "lines",
    [
        ("const mode = process.env.NODE_ENV;", "if (mode === `test`) return 6;"),
    ],
)
def test_a_trick_may_take_more_than_one_line(lines: tuple[str, ...]) -> None:
    assert any(map(_is_suspect, audit_js(_added("src/total.ts", *lines))))


@pytest.mark.parametrize(
    "lines",
    [
        ('const error = new Error("no");', 'error.code = "E";', "throw error;"),
        ('throw new Error("no");', "", "this.stack = [];"),
    ],
)
def test_errors_are_made_and_thrown_without_remark(lines: tuple[str, ...]) -> None:
    assert audit_js(_added("src/total.ts", *lines)) == []


@pytest.mark.parametrize("path", ["tune.dat", "src/total.js/impl", "lib/tune", "a/package.json"])
def test_a_file_is_source_whatever_its_name_ends_in(path: str) -> None:
    line = "module.exports = () => Boolean(process.env.NODE_TEST_CONTEXT);"
    found = audit_js(_added(path, line))
    assert list(map(_is_suspect, found)) == [not path.endswith(".dat")]


@pytest.mark.parametrize("path", ["README.md", "LICENSE", ".github/x.yml", "scripts/ci.sh"])
def test_what_is_no_source_may_name_the_runner(path: str) -> None:
    found = audit_js(_added(path, 'NODE_ENV="test" NODE_OPTIONS=--test node --test a.test.js'))
    assert not any(each.reaches_runner for each in found)


def test_new_test_files_are_left_out_but_for_what_others_load(bench: Bench) -> None:
    names = ["test/aaa.js", "test/helpers.js", "test/deep/index.ts", "src/new.test.ts"]
    bench.write(dict.fromkeys(names, ""))
    bench.write({"test/ages.js": "require('./helpers'); import x from './deep'; require('../src')"})
    assert loaded_by_none(bench.project, names) == ["test/aaa.js", "src/new.test.ts"]


def test_source_may_end_its_process(diff_of: Callable[[str, str], str]) -> None:
    (found,) = audit_js(diff_of("index.js", "process.exit(main(process.argv.slice(2)));"))
    assert not found.reaches_runner


TWINS = """
describe("a", () => {
  it("said", () => {
    assert.equal(f(1, 2), wanted, "adds");
    assert.equal(f(1, 2), 4, "adds");
  });
  it("plain", () => {
    const x = f();
    expect(x).toBe(3);
  });
  it("rounded", () => {
    expect(Math.round(f())).toBe(3);
  });
  it("leaves", () => {
    if (!ready) return;
    expect(f()).toBe(3);
  });
  it("inner", () => {
    for (const x of many) {
      expect(f(x)).toBe(3);
    }
  });
  it("later", async () => {
    await expect(f()).resolves.toBe(3);
  });
  it("not", () => {
    expect(f()).not.toBe(3);
  });
  it("twice", () => {
    expect(f()).toBe(1);
  });
  it("twice", () => {
    expect(f()).toBe(2);
  });
});
"""


def test_only_what_must_fail_is_changed(tmp_path: Path) -> None:
    (tmp_path / "a.test.js").write_text(TWINS)
    names = ("said", "plain", "rounded", "leaves", "inner", "later", "not", "twice", "twice#2")
    cases = [f"a.test.js::a::{name}" for name in names]
    file = tmp_path / "a.test.js"
    tried = contradict_tests(FORMS, cases, lambda _: [file])
    assert tried == ["a.test.js::a::said", "a.test.js::a::plain"]
    changed = TWINS.replace("expect(x).toBe(3)", "expect(x).toBe(23)")
    assert file.read_text() == changed.replace('4, "adds"', '25, "adds"')


@pytest.mark.parametrize(
    ("line", "answer", "changed"),
    [
        (4, "21", "  assert.equal(f(2), 21);"),
        (1, "", "assert.equal(f(1), 23)"),
        (3, "21", ""),
        (9_999_999, "21", ""),
    ],
)
def test_of_a_whole_file_the_assertion_that_failed_is_contradicted(
    tmp_path: Path, line: int, answer: str, changed: str
) -> None:
    file = tmp_path / "all.js"
    text = "assert.equal(f(1), 3)\nfor (const n of [1]) {\n  f(n);\n  assert.equal(f(2), 4);\n}\n"
    file.write_text(text)
    case = "test/all.js"
    answers, lines = {case: [answer]}, {case: line}
    tried = contradict_tests(FORMS, [case], lambda _: [file], answers, lines)
    assert tried == ([case] if changed else [])
    now = file.read_text()
    assert now == text if not changed else changed in now.split("\n")


SUMS = """test('sums', () => {
  load();
  assert.equal(f(1), 3);
  assert.equal(f(2), 4);
  assert.equal(g(1), 2.5);
  for (const n of [1]) {
    assert.equal(f(n), 3);
  }
  for (const n of f(3)) {
    if (g(n)) continue;
    assert.equal(g(n), 3);
  }
  if (g(2)) {
    assert.equal(g(2), 3);
  }
});
"""


@pytest.mark.parametrize(
    ("line", "answer", "changed"),
    [
        (5, "2.50", "assert.equal(g(1), 21.5);"),  # it means what was expected: another value then
        (4, "9", "assert.equal(f(2), 9);"),
        (7, "9", "assert.equal(f(n), 9);"),
        (11, "9", "assert.equal(f(1), 9);"),  # not every turn reaches it
        (14, "9", "assert.equal(f(1), 9);"),  # no loop
        (2, "9", "assert.equal(f(1), 9);"),
    ],
)
def test_of_a_test_the_assertion_that_failed_is_contradicted(
    tmp_path: Path, line: int, answer: str, changed: str
) -> None:
    file = tmp_path / "a.test.js"
    file.write_text(SUMS)
    case = "a.test.js::sums"
    answers, lines = {case: [answer]}, {case: line}
    assert contradict_tests(FORMS, [case], lambda _: [file], answers, lines) == [case]
    assert changed in [text.strip() for text in file.read_text().splitlines()]


@pytest.mark.parametrize(
    ("head", "changed"),
    [
        ("for (const row of rows(1)) {", "for (const row of %s(rows(1))) {"),
        ("rows(1).forEach((row) => {", "%s(rows(1)).forEach((row) => {"),
    ],
)
def test_a_loop_over_nothing_gets_one_item_where_its_assertion_is_contradicted(
    tmp_path: Path, head: str, changed: str
) -> None:
    file, case = tmp_path / "a.test.js", "a.test.js::rows"
    text = f"it('rows', () => {{\n  {head}\n    expect(row.n).toBe(3);\n  }}\n}});\n"
    file.write_text(text)
    assert contradict_tests(FORMS, [case], lambda _: [file], {}, {}) == []
    assert contradict_tests(FORMS, [case], lambda _: [file], {}, {case: 3}) == [case]
    one_item = FORMS.one_item.removesuffix("(%s)")
    assert file.read_text() == text.replace(head, changed % one_item).replace("(3)", "(23)")


@pytest.mark.parametrize(
    ("message", "made", "changed"),
    [
        ("-   cents: 350,\n-   unit: 'EUR'", "350, 'EUR'", "-717, 'EUR'"),
        (
            '-   "unit": "EUR",',
            "350, 'EUR'",
            "350, 'retrai contradiction EUR retrai contradiction'",
        ),
        ("expected Sum{ cents: 1 } to deeply equal Sum{ cents: 350 }", "'', 350", "'', -717"),
        ("-   cents: 350,", "350, 350", ""),  # nobody knows which of them was compared
        ("-   cents: 350,", "'350'", ""),
        ("", "350", ""),
    ],
)
def test_of_an_expected_object_only_what_was_compared_before_is_contradicted(
    tmp_path: Path, message: str, made: str, changed: str
) -> None:
    file, case = tmp_path / "a.test.js", "a.test.js::sum"
    text = f"it('sum', () => {{\n  load();\n  expect(sum(1)).toEqual(new Sum({made}));\n}});\n"
    for line, now in ((3, changed), (2, "")):
        file.write_text(text)
        answers, lines = {case: compared(message)}, {case: line}
        tried = contradict_tests(FORMS, [case], lambda _: [file], answers, lines)
        assert tried == ([case] if now else [])
        assert file.read_text() == text.replace(made, now or made)


def test_no_line_is_known_from_a_number_that_is_none() -> None:
    for number in ("1" * 30, "1" * 5000, "x"):
        assert failed_line("test/all.js", f"Error: no\n  at test/all.js:{number}") is None


@pytest.mark.parametrize(
    ("there", "new", "is_suspect"),
    [
        ("support/near/index.js", "support/near.js", True),
        ("support/near/index.ts", "support/near.ts", True),
        ("support/near/shapes.js", "support/near.js", False),
        ("support/near/index.test.js", "support/near.js", False),
        ("blog/index.html", "blog.js", False),
        ("lib/date/index.js", "lib/date.mjs", False),
        ("lib/near.d/index.ts", "lib/near.d.ts", False),
        ("test/near/index.js", "test/near.js", False),
        ("support/far.js", "support/near.js", False),
    ],
)
def test_a_file_that_is_loaded_in_the_place_of_a_folder_is_suspect(
    tmp_path: Path, there: str, new: str, *, is_suspect: bool
) -> None:
    for name in (there, new):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("exports.a = 1;\n")
    found = audit_js(_added(new, "exports.a = 1;"), tmp_path)
    assert any(map(_is_suspect, found)) is is_suspect


@pytest.mark.parametrize(
    "options", [{"timeout_s": 0}, {"path": "/abs"}, {"path": "../x"}, {"script": "-x"}, {"x": 1}]
)
def test_an_option_out_of_range_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        NpmTestGoal.Options(**options)


def test_tests_of_a_suite_that_never_ended_have_its_name(tmp_path: Path) -> None:
    file = str(tmp_path / "a.test.js")
    lines = [
        {"kind": "begun", "name": "sums", "nesting": 0},
        {"kind": "begun", "name": "adds", "nesting": 1},
        {"kind": "ended", "name": "adds", "nesting": 1, "status": "passed", "file": file},
        {"kind": "begun", "name": "of texts", "nesting": 1},
        {"kind": "begun", "name": "joins", "nesting": 2},
        {"kind": "ended", "name": "joins", "nesting": 2, "status": "failed", "file": file},
    ]
    report = "\n".join(json.dumps(each) for each in lines).encode()
    run = read_node_report(report, tmp_path)
    assert run.cases == {
        "a.test.js::sums::adds": "passed",
        "a.test.js::sums::of texts::joins": "failed",
    }
    assert run.problem
