"""The goals and the tool of the shell and JavaScript packs keep their contracts."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from retrai_testkit import (
    EndlessCall,
    GoalConformance,
    NotApplicable,
    ToolConformance,
    ToolExample,
)

pytest.importorskip("retrai_goals_js")
pytest.importorskip("retrai_goals_shell")

from retrai_goals_js.bun_test import BunTestGoal
from retrai_goals_js.js_exec_tool import JsExec
from retrai_goals_js.npm_test import NpmTestGoal
from retrai_goals_shell.cargo.goal import CargoTestGoal
from retrai_goals_shell.command.make_test import MakeTestGoal
from retrai_goals_shell.command.shell_goal import ShellGoal
from retrai_goals_shell.go.goal import GoTestGoal
from retrai_goals_shell.perf.goal import PerfCheckGoal

JS = Path(os.environ.get("TESTS_JS_DIR") or Path(__file__).parents[2] / ".tox" / "js")
OUT_OF_RANGE: tuple[Mapping[str, Any], ...] = ({"timeout_s": 0}, {"path": "../elsewhere"})


def needs(program: str) -> pytest.MarkDecorator:
    place = shutil.which(program) or JS / "bin" / program
    found = Path(place).exists()
    if found and program == "cargo":  # rustup's own may have no tool chain
        asked = [place, "--version"]
        found = subprocess.run(asked, capture_output=True, check=False).returncode == 0
    return pytest.mark.skipif(not found, reason=f"{program} is not installed")


@pytest.fixture(autouse=True)
def bun_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{JS / 'bin'}")


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


class TestShellGoal(GoalConformance):
    plugin = ShellGoal
    options = {"check_command": "bash check.sh"}
    bad_options = (*OUT_OF_RANGE, {"check_command": ""})
    endless_options = {"timeout_s": 1}

    def write_passing(self, folder: Path) -> None:
        write(folder, {"check.sh": "echo well\n"})

    def write_failing(self, folder: Path) -> None:
        write(folder, {"check.sh": "exit 1\n"})

    def write_broken(self, folder: Path) -> None:
        write(folder, {"check.sh": "kill -9 $PPID $$\n"})

    def write_endless(self, folder: Path) -> None:
        write(folder, {"check.sh": "sleep 1000\n"})


@needs("make")
class TestMakeTest(GoalConformance):
    plugin = MakeTestGoal
    bad_options = (*OUT_OF_RANGE, {"target": "-k"})
    endless_options = {"timeout_s": 1}

    def write_passing(self, folder: Path) -> None:
        write(folder, {"Makefile": "test:\n\ttrue\n"})

    def write_failing(self, folder: Path) -> None:
        write(folder, {"Makefile": "test:\n\tfalse\n"})

    def write_broken(self, folder: Path) -> None:
        write(folder, {"Makefile": "test:\n    no tab\n"})

    def write_endless(self, folder: Path) -> None:
        write(folder, {"Makefile": "test:\n\tsleep 1000\n"})


class TestPerfCheck(GoalConformance):
    plugin = PerfCheckGoal
    options = {
        "command": "bash work.sh",
        "max_seconds": 3,
        "warmup": 0,
        "runs": 1,
        "repeats": 1,
    }
    bad_options = ({"max_seconds": 0}, {"runs": 0}, {"command": ""})
    endless_options = {"timeout_s": 1}

    def write_passing(self, folder: Path) -> None:
        write(folder, {"work.sh": "echo done\n"})

    def write_failing(self, folder: Path) -> None:
        write(folder, {"work.sh": "sleep 3.1\n"})

    def write_broken(self, folder: Path) -> None:
        write(folder, {"work.sh": "exit 3\n"})

    def write_endless(self, folder: Path) -> None:
        write(folder, {"work.sh": "sleep 1000\n"})


CARGO = '[package]\nname = "it"\nversion = "0.1.0"\nedition = "2021"\n\n[lib]\npath = "lib.rs"\n'


@needs("cargo")
class TestCargoTest(GoalConformance):
    plugin = CargoTestGoal
    bad_options = OUT_OF_RANGE
    endless_options = {"timeout_s": 4}

    def write_passing(self, folder: Path) -> None:
        write(folder, {"Cargo.toml": CARGO, "lib.rs": "#[test]\nfn it() {}\n"})

    def write_failing(self, folder: Path) -> None:
        write(folder, {"Cargo.toml": CARGO, "lib.rs": "#[test]\nfn it() { panic!() }\n"})

    def write_broken(self, folder: Path) -> None:
        write(folder, {"Cargo.toml": CARGO, "lib.rs": "#[test]\nfn it() { no such thing }\n"})

    def write_endless(self, folder: Path) -> None:
        write(folder, {"Cargo.toml": CARGO, "lib.rs": "#[test]\nfn it() { loop {} }\n"})


GO = 'package it\n\nimport "testing"\n\nfunc TestIt(t *testing.T) { %s }\n'


@needs("go")
class TestGoTest(GoalConformance):
    plugin = GoTestGoal
    bad_options = (*OUT_OF_RANGE, {"packages": []})
    endless_options = {"timeout_s": 4}

    def write_passing(self, folder: Path) -> None:
        write(folder, {"go.mod": "module it\n\ngo 1.19\n", "it_test.go": GO % ""})

    def write_failing(self, folder: Path) -> None:
        write(folder, {"go.mod": "module it\n\ngo 1.19\n", "it_test.go": GO % "t.Fail()"})

    def write_broken(self, folder: Path) -> None:
        early = 'package it\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n'
        self.write_passing(folder)
        write(folder, {"early.go": early})

    def write_endless(self, folder: Path) -> None:
        write(folder, {"go.mod": "module it\n\ngo 1.19\n", "it_test.go": GO % "for {}"})


class OnNode(GoalConformance):
    """A project of one test, whose runner is the project's own."""

    bad_options = OUT_OF_RANGE
    endless_options = {"timeout_s": 3}
    runner_module: str

    def write_passing(self, folder: Path) -> None:
        self.write_test(folder, "")

    def write_failing(self, folder: Path) -> None:
        self.write_test(folder, 'throw new Error("no");')

    def write_broken(self, folder: Path) -> None:
        self.write_test(folder, "process.exit(0);")

    def write_endless(self, folder: Path) -> None:
        self.write_test(folder, "while (true) {}")

    def write_test(self, folder: Path, body: str) -> None:
        test = f'import {{ test }} from "{self.runner_module}";\ntest("it", () => {{ {body} }});\n'
        package = '{"type": "module", "scripts": {"test": "node --test"}}'
        write(folder, {"package.json": package, "bun.lock": "", "it.test.js": test})


@needs("npm")
class TestNpmTest(OnNode):
    plugin = NpmTestGoal
    runner_module = "node:test"


@needs("bun")
class TestBunTest(OnNode):
    plugin = BunTestGoal
    runner_module = "bun:test"


@needs("node")
class TestJsExec(ToolConformance):
    plugin = JsExec
    bad_options = ({"max_timeout_s": 0},)
    examples = (
        ToolExample(
            {"code": "import('./one.mjs').then((m) => console.log(m.one + 41));"}, contains="42"
        ),
        ToolExample({"code": "throw new TypeError('no')"}, ok=False, contains="TypeError"),
        ToolExample(
            {"code": "require('fs').writeFileSync('made.txt', 'x')"}, writes={"made.txt": "x"}
        ),
    )
    bad_examples = ({"code": "this is no JavaScript"},)
    path_argument = NotApplicable("code is held back by the sandbox alone")
    long_example = {"code": "console.log('x'.repeat(5000))"}
    endless = EndlessCall({"code": "while (true) {}"}, {"max_timeout_s": 0.5})

    def write_project(self, folder: Path) -> None:
        write(folder, {"one.mjs": "export const one = 1;\n"})
