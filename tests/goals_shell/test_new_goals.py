"""`lint`, `api-test` and `rust-optimize`: their contract, and what must not pass as a success."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("retrai_goals_shell")

from pathspec import GitIgnoreSpec

from retrai_core import Completed, GoalBase, GoalResult
from retrai_core.verification.baseline import Baseline
from retrai_core.verification.verdict import judge
from retrai_goals_shell.api.goal import ApiTestGoal
from retrai_goals_shell.cargo.optimize import NOTHING_TO_COMPARE, RustOptimizeGoal
from retrai_goals_shell.command.shell_goal import ShellGoal
from retrai_goals_shell.lint.excuses import excuses_in
from retrai_goals_shell.lint.goal import LintGoal
from retrai_goals_shell.lint.linters import BY_NAME, LinterError, find_linter
from retrai_testkit import GoalConformance

from ..goal_bench import EXAMPLES, Bench
from .conftest import needs_cargo

JS = Path(os.environ.get("TESTS_JS_DIR") or Path(__file__).parents[2] / ".tox" / "js")
needs_eslint = pytest.mark.skipif(
    not (JS / "node_modules/.bin/eslint").exists(),
    reason="tests/goals_js/install_bun.sh brings eslint",
)
needs_ruff = pytest.mark.skipif(shutil.which("ruff") is None, reason="ruff is not installed")
RUFF = {"ruff.toml": '[lint]\nselect = ["F"]\n'}
OURS = EXAMPLES / "original_options"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


async def first_and_later(goal: GoalBase, change: Any, project: Path) -> tuple[bool, str]:
    """Whether the guard believes the check after a change, and why not."""
    baseline = Baseline()
    baseline.take_result(await goal.check({}, project))
    change()
    judged = judge(baseline, await goal.check({"iteration": 1}, project))
    return judged.achieved, judged.reason


# lint


class TestLint(GoalConformance):
    plugin = LintGoal
    bad_options = ({"linter": "tidy"}, {"timeout_s": 0})
    options: ClassVar[Mapping[str, Any]] = {
        "lint_command": "test ! -e slow.txt || sleep 60; ! grep -rn TODO --include=*.txt ."
    }
    endless_options: ClassVar[Mapping[str, Any]] = {"lint_command": "sleep 60", "timeout_s": 3}

    def write_passing(self, folder: Path) -> None:
        (folder / "a.txt").write_text("done\n")

    def write_failing(self, folder: Path) -> None:
        (folder / "a.txt").write_text("TODO\n")

    def write_broken(self, folder: Path) -> Any:
        from retrai_testkit import NotApplicable

        return NotApplicable("the line ends well whatever the files are")

    def write_endless(self, folder: Path) -> None:
        (folder / "slow.txt").write_text("done\n")


@needs_ruff
async def test_ruff_is_found_by_its_configuration_and_its_findings_are_told(bench: Bench) -> None:
    bench.write({**RUFF, "a.py": "import os\n", "b.py": "x = 1\n"})
    goal = bench.build(LintGoal)
    assert await goal.ready() is None
    result: GoalResult = await goal.check({}, bench.project)
    assert not result.achieved
    assert result.reason == "ruff: 1 finding in 1 file"
    assert "a.py:1: F401" in result.details
    bench.write({"a.py": "y = 2\n"})
    assert (await goal.check({}, bench.project)).achieved


def move(file: Path, to: Path) -> None:
    to.parent.mkdir()
    file.rename(to)


CHEATS = {
    "a comment that looks away": lambda folder: (folder / "a.py").write_text("import os  # noqa\n"),
    "a comment for the whole file": lambda folder: (folder / "a.py").write_text(
        "# ruff: noqa\nimport os\n"
    ),
    "a comment for an import sorter": lambda folder: (folder / "a.py").write_text(
        "# isort: skip_file\nimport os  # type: ignore\n"
    ),
    "the file is gone": lambda folder: (folder / "a.py").unlink(),
    "the file has another ending": lambda folder: (folder / "a.py").rename(folder / "a.txt"),
    "the file moves to where the linter does not look": lambda folder: move(
        folder / "a.py", folder / "venv/a.py"
    ),
    "the file is emptied": lambda folder: (folder / "a.py").write_text("\n"),
    "the linter is told to ignore it": lambda folder: (folder / ".gitignore").write_text("a.py\n"),
}


@needs_ruff
@pytest.mark.parametrize("name", CHEATS)
async def test_looking_away_is_no_pass_though_ruff_exits_with_0(bench: Bench, name: str) -> None:
    bench.write({**RUFF, "a.py": "import os\n", "b.py": "x = 1\n"})
    goal = bench.build(LintGoal)
    achieved, reason = await first_and_later(
        goal, lambda: CHEATS[name](bench.project), bench.project
    )
    assert not achieved, reason


UNUSED_COMMENTS = {
    "a comment of another tool": "x = 1  # type: ignore[assignment]  # pylint: disable=C0103\n",
    "a rule that is not selected": "x = 1  # noqa: BLE001\n",
    "a rule that finds nothing there": "x = 1  # noqa: F401\n",
    "a line without findings": "x = 1  # ruff: ignore[F401]\n",
}
USED_COMMENTS = {
    "one of its rules finds something": "import os  # noqa: F401, E741\n",
    "an import of several lines": "from os import (  # noqa: F401\n    path,\n)\n",
    "one before an unused one": "import os  # noqa: F401  # noqa: E741\n",
    "one where lines are counted otherwise": "x = 1  # noqa: E741\n# \f\nimport os  # noqa: F401\n",
    "a range": "# ruff: disable[F401]\nimport os\n# ruff: enable[F401]\n",
    "a range and more": "# ruff: disable[F401, F841]\nimport os\n# ruff: enable[F401, F841]\n",
    "a line, the first of two rules": "import os  # ruff: ignore[F401, F841]\n",
    "a line, the second of two rules": "import os  # ruff: ignore[F841, F401]\n",
    "a file": "# ruff: file-ignore[F401, F841]\nimport os\n",
}


@needs_ruff
@pytest.mark.parametrize("name", [*UNUSED_COMMENTS, *USED_COMMENTS])
async def test_a_comment_that_hides_nothing_from_ruff_is_no_excuse(bench: Bench, name: str) -> None:
    bench.write({**RUFF, "a.py": "import os\n", "b.py": "y = 1\n"})
    goal = bench.build(LintGoal)
    text = {**UNUSED_COMMENTS, **USED_COMMENTS}[name]
    achieved, reason = await first_and_later(
        goal, lambda: bench.write({"a.py": text}), bench.project
    )
    assert achieved is (name in UNUSED_COMMENTS), reason


def with_eslint(bench: Bench, files: Mapping[str, str]) -> LintGoal:
    rules = '[{ ignores: ["old/**"] }, { rules: { "no-unused-vars": "error" } }]'
    bench.write({"eslint.config.js": f"module.exports = {rules};\n", **files})
    (bench.project / "node_modules").symlink_to(JS / "node_modules")
    (bench.project / ".gitignore").write_text("node_modules\n")
    return bench.build(LintGoal)


@needs_eslint
async def test_eslint_is_run_and_its_findings_are_told(bench: Bench) -> None:
    goal = with_eslint(bench, {"a.js": "const x = 1;\n", "b.js": "module.exports = 2;\n"})
    result = await goal.check({}, bench.project)
    assert (result.achieved, result.reason) == (False, "eslint: 1 finding in 1 file")
    assert "a.js:1: no-unused-vars" in result.details
    assert result.report is not None
    assert list(result.report.cases) == ["a.js", "b.js", "eslint.config.js"]
    bench.write({"a.js": "module.exports = 1;\n"})
    assert (await goal.check({}, bench.project)).achieved


@needs_eslint
async def test_a_file_that_moves_to_where_eslint_does_not_look_is_no_pass(bench: Bench) -> None:
    goal = with_eslint(bench, {"a.js": "const x = 1;\n", "b.js": "module.exports = 2;\n"})
    achieved, reason = await first_and_later(
        goal, lambda: move(bench.project / "a.js", bench.project / "old/a.js"), bench.project
    )
    assert not achieved, reason


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.py", "import os  # noqa: F401\n", "# ruff: noqa\nimport os\n"),
        ("a.py", "import os  # noqa: F401\n", "import os  # noqa\n"),
        ("a.js", "// eslint-disable-next-line no-var\n", "/* eslint-disable */\n"),
        ("a.rs", "#[allow(dead_code)]\n", "#![allow(warnings)]\n"),
        ("a.go", "package a\n", "// Code generated by x. DO NOT EDIT.\npackage a\n"),
    ],
)
def test_a_broader_comment_counts_more(tmp_path: Path, name: str, before: str, after: str) -> None:
    (tmp_path / name).write_text(before)
    at_start = excuses_in(tmp_path, [name]).get(name, 0)
    (tmp_path / name).write_text(after)
    assert excuses_in(tmp_path, [name])[name] > at_start


def test_a_call_of_expect_is_no_excuse(tmp_path: Path) -> None:
    (tmp_path / "a.rs").write_text("let x = g().expect(MESSAGE);\n")
    assert excuses_in(tmp_path, ["a.rs"]) == {}


def test_what_configures_linters_is_protected(bench: Bench) -> None:
    goal = bench.build(LintGoal)
    for globs in (goal.protected(bench.project), goal.steering(bench.project)):
        spec = GitIgnoreSpec.from_lines(globs)
        for name in (
            "ruff.toml",
            "pkg/ruff.toml",
            "pyproject.toml",
            ".eslintrc.json",
            ".gitignore",
        ):
            assert spec.match_file(name), name
        for name in ("clippy.toml", "Cargo.toml", ".golangci.yml", "eslint.config.mjs"):
            assert spec.match_file(name), name


@pytest.mark.parametrize(
    ("name", "linter"),
    [
        ("ruff.toml", "ruff"),
        ("eslint.config.js", "eslint"),
        ("Cargo.toml", "clippy"),
        (".golangci.yml", "golangci-lint"),
    ],
)
def test_the_linter_follows_from_the_configuration(
    bench: Bench, name: str, linter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write({name: ""})
    monkeypatch.setenv("PATH", "")
    with pytest.raises(LinterError, match=f"^{linter} is not installed; "):
        find_linter(bench.project, "auto", "/nowhere/python")


def test_what_a_macro_prints_among_the_messages_of_clippy_is_passed_over(tmp_path: Path) -> None:
    span = {"file_name": "src/lib.rs", "line_start": 3, "is_primary": True}
    code = {"code": "clippy::needless_return", "explanation": None}
    message = {"level": "warning", "message": "unneeded", "code": code, "spans": [span]}
    count = {"level": "warning", "message": "1 warning emitted", "code": None, "spans": []}
    lines = [
        "{ not json",
        '{"reason": "log", "message": "text"}',
        '{"reason": "compiler-message", "message": "text"}',
        "[1]",
        json.dumps({"reason": "compiler-message", "message": message}),
        json.dumps({"reason": "other", "message": message | {"message": "printed"}}),
        json.dumps({"reason": "compiler-message", "message": count}),
    ]
    end = '{"reason": "build-finished", "success": true}'
    clippy = BY_NAME["clippy"]
    done = Completed(0, "\n".join([*lines, end]), "")
    assert [str(each) for each in clippy.read(done, tmp_path)] == [
        "src/lib.rs:3: clippy::needless_return unneeded"
    ]
    with pytest.raises(LinterError, match="clippy left no report"):
        clippy.read(Completed(0, "\n".join(lines), ""), tmp_path)


@needs_cargo
async def test_clippy_reports_each_finding_once(bench: Bench) -> None:
    bench.write(
        {
            "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": "pub fn f(x: bool) -> bool {\n    return x == true;\n}\n",
        }
    )
    goal = bench.build(LintGoal)
    result: GoalResult = await goal.check({}, bench.project)
    if "no such command" in result.reason or "is not installed" in result.details:
        pytest.skip("clippy is not installed")
    assert result.reason == "clippy: 2 findings in 1 file", result.details
    bench.write({"src/lib.rs": "pub fn f(x: bool) -> bool {\n    x\n}\n"})
    assert (await goal.check({}, bench.project)).achieved


# api-test

SERVER = """\
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{body}')
HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


class TestApiTest(GoalConformance):
    plugin = ApiTestGoal
    bad_options = (
        {"endpoints": []},
        {"base_url": "nowhere"},
        {"endpoints": [{"path": "/", "expect_status": 1}]},
    )
    port = free_port()
    options: ClassVar[Mapping[str, Any]] = {
        "base_url": f"http://127.0.0.1:{port}",
        "start_command": f"{sys.executable} server.py {port}",
        "endpoints": [{"path": "/", "expect_json": {"n": 1}}],
    }
    endless_options: ClassVar[Mapping[str, Any]] = {**options, "start_timeout_s": 1}

    def write_passing(self, folder: Path) -> None:
        (folder / "server.py").write_text(SERVER.replace("{body}", '{"n": 1, "more": 2}'))

    def write_failing(self, folder: Path) -> None:
        (folder / "server.py").write_text(SERVER.replace("{body}", '{"n": 2}'))

    def write_broken(self, folder: Path) -> None:
        (folder / "server.py").write_text("raise SystemExit(3)\n")

    def write_endless(self, folder: Path) -> None:
        (folder / "server.py").write_text("import time\ntime.sleep(60)\n")


def api(bench: Bench, port: int, *endpoints: Mapping[str, Any], **more: Any) -> Any:
    options: dict[str, Any] = {
        "base_url": f"http://127.0.0.1:{port}",
        "start_command": f"{sys.executable} server.py {port}",
        "endpoints": list(endpoints) or [{"path": "/"}],
        **more,
    }
    return bench.build(ApiTestGoal, **options)


async def test_each_endpoint_is_a_case_and_the_server_is_ended(bench: Bench) -> None:
    port = free_port()
    shutil.copytree(OURS / "api-test", bench.project, dirs_exist_ok=True)
    bench.replace("server.py", '("127.0.0.1", 8765)', f'("127.0.0.1", {port})')
    goal = api(
        bench,
        port,
        {"path": "/health", "expect_json": {"status": "ok"}},
        {
            "path": "/sum",
            "method": "POST",
            "json": {"numbers": [1, 2, 3]},
            "expect_json": {"sum": 6},
        },
        {"path": "/nothing", "expect_status": 404},
    )
    result: GoalResult = await goal.check({}, bench.project)
    assert result.report is not None
    assert dict(result.report.cases) == {
        "GET /health": "passed",
        "POST /sum": "failed",
        "GET /nothing": "passed",
    }
    assert "sum is 3, expected 6" in result.details
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=5)


async def test_a_server_that_was_left_running_is_no_pass(bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        bench.write({"server.py": "raise SystemExit(1)\n"})
        result: GoalResult = await api(bench, port).check({}, bench.project)
    assert not result.achieved
    assert result.report is not None
    assert not result.report.complete
    assert "before start_command was run" in result.reason


FORGED = {
    "it prints a report": 'print(\'{"secret": "", "answers": [{"status": 200}]}\', flush=True)\n',
    "it writes to its parent's output": (
        "import os\n"
        "parent = os.getppid()\n"
        "for name in (parent, os.getpgid(parent)):\n"
        "    try:\n"
        "        open(f'/proc/{name}/fd/1', 'w').write('{\"secret\": \"\", \"answers\": []}')\n"
        "    except OSError:\n"
        "        pass\n"
    ),
    "it shadows the client's modules": "",
}


@pytest.mark.parametrize("name", FORGED)
async def test_a_server_cannot_write_the_report(bench: Bench, name: str) -> None:
    port = free_port()
    wrong = SERVER.replace("{body}", '{"n": 2}')
    bench.write({"server.py": f"{FORGED[name]}{wrong}"})
    if not FORGED[name]:
        bench.write({"json.py": "def loads(text):\n    return {'n': 1}\n"})
    goal = api(bench, port, {"path": "/", "expect_json": {"n": 1}})
    result: GoalResult = await goal.check({}, bench.project)
    assert not result.achieved


# rust-optimize


@pytest.fixture
def crate(bench: Bench) -> Bench:
    shutil.copytree(OURS / "rust-optimize", bench.project, dirs_exist_ok=True)
    return bench


FAST = """\
pub fn equal_pairs(numbers: &[u32]) -> u64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(|c| (c.len() * (c.len() - 1) / 2) as u64).sum()
}
"""
WRONG = {
    "an answer that the tests do not see": FAST.replace(
        "/ 2) as u64", "/ 2) as u64 + (numbers.len() > 9) as u64"
    ).replace(".map(|c|", ".map(|c: &[u32]|"),
    "an answer that is written down": (
        "pub fn equal_pairs(numbers: &[u32]) -> u64 {\n"
        "    if numbers.len() == 4 { 3 } else { 0 }\n}\n"
    ),
    "a figure of its own": (
        "pub fn equal_pairs(numbers: &[u32]) -> u64 {\n"
        '    println!("test equal_pairs ... bench: 5 ns/iter (+/- 0)");\n'
        "    let mut n = 0;\n"
        "    for (i, a) in numbers.iter().enumerate() {\n"
        "        n += numbers[i + 1..].iter().filter(|b| a == *b).count() as u64;\n"
        "    }\n    n\n}\n"
    ),
    "the process ends": (
        "pub fn equal_pairs(numbers: &[u32]) -> u64 {\n"
        "    if numbers.len() > 9 { std::process::exit(0) }\n"
        "    if numbers.len() == 4 { 3 } else { 0 }\n}\n"
    ),
}


@needs_cargo
async def test_a_fast_function_with_the_same_results_is_achieved_and_wrong_ones_are_not(
    crate: Bench,
) -> None:
    goal = crate.build(RustOptimizeGoal, bench_name="pairs", target_ns=400_000, runs=1)
    assert await goal.ready() is None
    baseline = Baseline()
    first: GoalResult = await goal.check({}, crate.project)
    assert not first.achieved
    assert first.reason.startswith("equal_pairs: median ")
    baseline.take_result(first)
    crate.write({"src/lib.rs": FAST})
    fast = await goal.check({"iteration": 1}, crate.project)
    assert judge(baseline, fast).achieved, fast.details
    for name, source in WRONG.items():
        crate.write({"src/lib.rs": source})
        wrong = await goal.check({"iteration": 1}, crate.project)
        assert not judge(baseline, wrong).achieved, name


@needs_cargo
async def test_without_tests_and_printed_results_nothing_can_be_compared(crate: Bench) -> None:
    shutil.rmtree(crate.project / "tests")
    crate.replace(
        "benches/pairs.rs", '    println!("equal pairs: {result}");\n', "    let _ = result;\n"
    )
    goal = crate.build(RustOptimizeGoal, target_ns=1e9, runs=1)
    result: GoalResult = await goal.check({}, crate.project)
    assert not result.achieved
    assert result.reason == NOTHING_TO_COMPARE


def test_the_benchmarks_and_what_configures_them_are_protected(bench: Bench) -> None:
    goal = bench.build(RustOptimizeGoal)
    spec = GitIgnoreSpec.from_lines(goal.protected(bench.project))
    for name in (
        "benches/pairs.rs",
        "tests/pairs.rs",
        "Cargo.toml",
        ".cargo/config.toml",
        "build.rs",
    ):
        assert spec.match_file(name), name


def test_an_empty_condition_is_the_default_and_a_header_may_be_a_number() -> None:
    for written in (None, {}, {"output_contains": None}):
        options = ShellGoal.Options.model_validate({"success_condition": written})
        assert options.success_condition.exit_code == 0
    endpoint = {"path": "/", "headers": {"X-Version": 2}}
    options = ApiTestGoal.Options.model_validate(
        {"base_url": "http://127.0.0.1:1", "endpoints": [endpoint]}
    )
    assert options.endpoints[0].headers == {"X-Version": "2"}
