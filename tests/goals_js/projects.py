"""One small project for each runner: the same function, the same four tests."""

from __future__ import annotations

from collections.abc import Mapping

WRONG = "return cents.reduce((sum, each) => each, 0);"
RIGHT = "return cents.reduce((sum, each) => sum + each, 0);"
CASES = ("total::adds all", "total::is zero for nothing", "total::later", "names are kept")

_TESTS = """
describe("total", () => {
  it("adds all", () => {
    const found = total([1, 2, 3]);
    %(equal)s(found%(between)s6);
  });
  it("is zero for nothing", () => {
    %(equal)s(total([])%(between)s0);
  });
  it.skip("later", () => {
    %(equal)s(total([1])%(between)s2);
  });
});
it("names are kept", () => {
  %(equal)s(total.name%(between)s"total");
});
"""
_EXPECT = {"equal": "expect", "between": ").toBe("}
_ASSERT = {"equal": "assert.equal", "between": ", "}
_SOURCE = f"export function total(cents) {{\n  {WRONG}\n}}\n"
_COMMON = f"exports.total = function total(cents) {{\n  {WRONG}\n}};\n"


def _package(script: str, kind: str) -> str:
    return f'{{"name": "purse", "type": "{kind}", "scripts": {{"test": "{script}"}}}}'


PROJECTS: Mapping[str, Mapping[str, str]] = {
    "jest": {
        "package.json": _package("jest", "commonjs"),
        "src/total.js": _COMMON,
        "src/total.test.js": 'const { total } = require("./total");\n' + _TESTS % _EXPECT,
    },
    "vitest": {
        "package.json": _package("vitest", "module"),
        "src/total.js": _SOURCE,
        "src/total.test.js": (
            'import { describe, expect, it } from "vitest";\nimport { total } from "./total.js";\n'
            + _TESTS % _EXPECT
        ),
    },
    "mocha": {
        "package.json": _package("mocha 'src/*.test.js'", "commonjs"),
        "src/total.js": _COMMON,
        "src/total.test.js": (
            'const assert = require("node:assert");\nconst { total } = require("./total");\n'
            + _TESTS % _ASSERT
        ),
    },
    "node": {
        "package.json": _package("node --test src/", "module").replace(" src/", ""),
        "src/total.js": _SOURCE,
        "src/total.test.js": (
            'import assert from "node:assert";\nimport { describe, it } from "node:test";\n'
            'import { total } from "./total.js";\n' + _TESTS % _ASSERT
        ),
    },
    "bun": {
        "package.json": _package("bun test", "module"),
        "bun.lock": '{ "lockfileVersion": 1, "workspaces": { "": { "name": "purse" } } }',
        "src/total.js": _SOURCE,
        "src/total.test.js": (
            'import { describe, expect, it } from "bun:test";\n'
            'import { total } from "./total.js";\n' + _TESTS % _EXPECT
        ),
    },
}
