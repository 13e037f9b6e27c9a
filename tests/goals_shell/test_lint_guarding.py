"""Findings must be corrected: code that is gone, or stands where no linter looks, is no repair."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

import pytest

pytest.importorskip("retrai_goals_shell")

from retrai_core.verification.audit import as_added
from retrai_goals_shell.lint.goal import LintGoal
from retrai_goals_shell.lint.guarding import FirstFindings, audit_lint, undefined_names

from ..goal_bench import Bench

needs_ruff = pytest.mark.skipif(shutil.which("ruff") is None, reason="ruff is not installed")
OLD = "def old():\n    return 1\n"
PRICES = "import os\n\n\ndef cheapest(rows):\n    best = 1\n    return min(rows)\n"
RUFF = {
    "ruff.toml": 'exclude = ["vendored"]\n[lint]\nselect = ["F"]\n',
    "prices.py": PRICES,
    "vendored/old.py": OLD,
}
GOOD = "def cheapest(rows):\n    return min(rows)\n"
SHIM = "from {} import cheapest\n\n__all__ = ['cheapest']\n"
NOTHING = FirstFindings()
FIXES: Mapping[str, tuple[Mapping[str, str], str]] = {
    "repaired": ({"prices.py": GOOD}, ""),
    "moved, and linted there": ({"prices.py": SHIM.format("cheap"), "cheap.py": GOOD}, ""),
    "moved out of sight": (
        {"prices.py": SHIM.format("vendored.cheap"), "vendored/cheap.py": PRICES},
        "cheapest stands in vendored/cheap.py now, where the linter does not look",
    ),
    "moved into a file that was there": (
        {"prices.py": SHIM.format("vendored.old"), "vendored/old.py": f"{OLD}\n\n{GOOD}"},
        "cheapest stands in vendored/old.py now, where the linter does not look",
    ),
    "emptied": (
        {"prices.py": "def cheapest(rows):\n    return None\n"},
        "prices.py:1: cheapest had a finding, and does nothing now",
    ),
    "what was never linted moves": (
        {"vendored/old.py": "", "vendored/new.py": OLD, "prices.py": GOOD},
        "",
    ),
    "a value that was there is given at once": (
        {"prices.py": "def cheapest(rows):\n    return min(rows)\n"},
        "",
    ),
    "a page describes it": (
        {"prices.py": "", "docs.md": "def cheapest(rows):\n", "shop.py": "x = 1\n"},
        "",
    ),
    "a new file beside it": ({"prices.py": GOOD, "vendored/other.py": "import os\n"}, ""),
}


@needs_ruff
@pytest.mark.parametrize(("files", "reason"), FIXES.values(), ids=FIXES)
async def test_code_with_findings_is_looked_for(
    bench: Bench, files: Mapping[str, str], reason: str
) -> None:
    bench.write(RUFF)
    goal = bench.build(LintGoal)
    assert not (await goal.check({}, bench.project)).achieved
    bench.write(files)
    result = await goal.check({"iteration": 1}, bench.project)
    assert result.achieved, result.details
    found = await goal.contradict(bench.project, ["a case"])
    assert (list(found.still_passed), found.reason) == (["a case"] if reason else [], reason)
    if not reason:
        assert {path: (bench.project / path).read_text() for path in files} == files


@needs_ruff
@pytest.mark.parametrize("command", ["ruff check prices.py", "ruff check --isolated"])
async def test_a_command_must_see_what_was_moved(bench: Bench, command: str) -> None:
    bench.write(RUFF)
    goal = bench.build(LintGoal, lint_command=command)
    assert not (await goal.check({}, bench.project)).achieved
    bench.write({"prices.py": SHIM.format("cheap"), "cheap.py": GOOD})
    assert (await goal.check({"iteration": 1}, bench.project)).achieved
    found = await goal.contradict(bench.project, ["a case"])
    assert bool(found.still_passed) is (command == "ruff check prices.py")


@pytest.mark.parametrize(
    ("path", "line", "is_suspect"),
    [
        ("a.py", "exec(SOURCE)", True),
        ("a.py", "eval('import_all()')", True),
        ("a.py", "# -*- coding: rot13 -*-", True),
        ("a.py", "# -*- coding: utf-8 -*-", False),
        ("a.py", "# Huffman coding: codes of a byte", False),
        ("a.py", "x = 1  # and no exec(text)", False),
        ("a.ts", "await page.$eval('a', read)", False),
        ("a.py", "value = pattern.exec(text)", False),
        ("a.js", "const found = pattern.exec(text)", False),
        ("a.ts", "new Function('return 1')()", True),
        ("a.md", "exec(SOURCE)", False),
    ],
)
def test_code_that_no_linter_follows_is_suspect(
    bench: Bench, path: str, line: str, is_suspect: bool
) -> None:
    bench.write({path: f"{line}\n"})
    found = audit_lint(as_added(path, f"{line}\n"), bench.project, NOTHING)
    assert any(each.reaches_runner for each in found) is is_suspect


@pytest.mark.parametrize(
    ("texts", "is_suspect"),
    [({}, False), ({"a.py": "rate = 1\n"}, False), ({"config.py": "rate: float = 0.2\n"}, True)],
)
def test_a_value_of_an_undefined_name_is_told(
    bench: Bench, texts: dict[str, str], is_suspect: bool
) -> None:
    names = undefined_names("Undefined name `rate`\nunused variable `x`\n")
    first = FirstFindings(undefined=names, texts=texts)
    text = "rate = 0\nrate == 1\nother = 2\n"
    found = list(audit_lint(as_added("a.py", text), bench.project, first))
    assert [(each.line, each.reaches_runner) for each in found] == [(1, is_suspect)]
    assert found[0].what.endswith(": rate = 0")


def test_calls_that_are_gone_from_a_function_with_a_finding_are_told(bench: Bench) -> None:
    old = "def f(x):\n    y = log.write(g(list(x)))\n    return x\n\ndef h():\n    g(1)\n"
    first = FirstFindings(lines={"a.py": [2]}, texts={"a.py": old})
    bench.write({"a.py": "def f(x):\n    log.write(x)\n    return x\n\ndef h(): ...\n"})
    found = list(audit_lint(as_added("a.py", ""), bench.project, first))
    assert [(each.line, each.what, each.reaches_runner) for each in found] == [
        (1, "f had a finding, and does not call g now", False)
    ]


def test_what_moves_is_forgiven(bench: Bench) -> None:
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +0,0 @@\n-exec(text)\n"
    bench.write({"b.py": "exec(source)\n"})
    assert not list(audit_lint(diff + as_added("b.py", "exec(source)\n"), bench.project, NOTHING))


@needs_ruff
@pytest.mark.parametrize(
    ("config", "is_suspect"), [({}, False), ({"lint_command": "ruff check"}, True)]
)
async def test_code_that_nobody_runs_reaches_into_no_check(
    bench: Bench, config: Mapping[str, str], is_suspect: bool
) -> None:
    bench.write(RUFF)
    goal = bench.build(LintGoal, **config)
    assert not (await goal.check({}, bench.project)).achieved
    diff = as_added("prices.py", "FOLDER = '/proc/self/fd'\n")
    assert any(each.reaches_runner for each in goal.audit(diff)) is is_suspect


@needs_ruff
async def test_a_link_to_another_place_is_not_written(bench: Bench) -> None:
    bench.write(RUFF)
    goal = bench.build(LintGoal)
    await goal.check({}, bench.project)
    outside = bench.project.with_name("shared.py")
    outside.write_text(GOOD)
    (bench.project / "cheap.py").symlink_to(outside)
    bench.write({"prices.py": SHIM.format("cheap")})
    assert not (await goal.contradict(bench.project, ["a case"])).still_passed
    assert outside.read_text() == GOOD


@pytest.mark.parametrize(
    ("old", "new", "is_emptied"),
    [
        ("def f(x):\n    a = g(x)\n", "def f(x):\n    pass\n", False),
        ("def f(x):\n    g(x)\n", "def f(x):\n    pass\n", True),
        ("def f(x):\n    if g(x):\n        return 1\n", "def f(x):\n    return 1\n", False),
        (
            "def f(x: Optional[int]):\n    raise NotImplementedError()\n",
            "def f(x: int | None):\n    raise NotImplementedError()\n",
            False,
        ),
        ("def f(x):\n    return g(x)\n", "class A:\n    def f(x): ...\n", False),
    ],
)
def test_a_function_that_does_nothing_any_more(
    bench: Bench, old: str, new: str, is_emptied: bool
) -> None:
    first = FirstFindings(lines={"a.py": [1, 2]}, texts={"a.py": old})
    bench.write({"a.py": new})
    assert bool(first.emptied(bench.project)) is is_emptied


def test_a_function_that_never_did_anything_may_stay_so(bench: Bench) -> None:
    first = FirstFindings(lines={"a.py": [2]}, texts={"a.py": "def f():\n    x = 1\n"})
    bench.write({"a.py": "def f():\n    pass\n"})
    assert first.emptied(bench.project) == ""
