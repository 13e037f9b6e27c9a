"""`shell-goal` and `make-test` with the real bash and make: conditions, protection, early ends."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from retrai_core.verification.globs import Globs
from retrai_goals_shell.command.audit import audit_commands
from retrai_goals_shell.command.environment import command_environment
from retrai_goals_shell.command.make_test import MakeTestGoal
from retrai_goals_shell.command.shell_goal import ShellGoal
from retrai_goals_shell.makefile import recipe_of

from ..goal_bench import Bench
from .conftest import needs_make


@pytest.mark.parametrize(
    ("command", "condition", "reason"),
    [
        ("true", {}, ""),
        ("exit 3", {}, "exit status 3"),
        (r"printf 'one\n\033[31mno network\033[0m\n\n'; exit 2", {}, "status 2: no network"),
        ("exit 3", {"exit_code": 3}, ""),
        ("echo all is well", {"output_contains": "is well"}, ""),
        ("echo so so", {"output_contains": ["so", "well"]}, "does not print 'well'"),
        ("echo on stderr >&2", {"output_contains": "on stderr"}, ""),
        ("printf 'a\\nscore 42\\n'", {"output_matches": r"^score \d+$"}, ""),
        ("echo score none", {"output_matches": r"^score \d+$"}, "matches"),
        ("true", {"max_seconds": 30}, ""),
        ("sleep 0.3", {"max_seconds": 0.01}, "it took "),
        ("echo yes; exit 1", {"exit_code": None, "output_contains": "yes"}, ""),
    ],
)
async def test_every_condition_that_is_set_must_hold(
    bench: Bench, command: str, condition: dict[str, Any], reason: str
) -> None:
    goal = bench.build(ShellGoal, check_command=command, success_condition=condition)
    result = await goal.check({}, bench.project)
    assert result.report.complete
    assert result.achieved is (reason == ""), result.reason
    assert reason in result.reason


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("kill -9 $$", "ended by signal 9"),
        ("sleep 60", "still running after 0.5 s"),
        ("no-such-program --now", "no-such-program"),
    ],
)
async def test_a_command_that_does_not_end_by_itself_is_no_complete_run(
    bench: Bench, command: str, reason: str
) -> None:
    timeout_s = 0.5 if "sleep" in command else 60
    goal = bench.build(ShellGoal, check_command=command, timeout_s=timeout_s)
    result = await goal.check({}, bench.project)
    assert not result.achieved
    assert not result.report.complete
    assert reason in result.reason


@pytest.mark.parametrize(
    "condition",
    [
        {"output_matches": "("},
        {"max_seconds": 0},
        {"exit_code": 300},
        {"exit_status": 0},
    ],
)
def test_a_condition_that_cannot_be_is_refused(condition: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ShellGoal.Options(check_command="true", success_condition=condition)


def test_the_scripts_that_check_are_protected_and_told(bench: Bench) -> None:
    bench.write({"tools/verify.py": "", "main.py": "", "tests/a.txt": ""})
    goal = bench.build(ShellGoal, check_command="python main.py | python ./tools/verify.py")
    protected = Globs(goal.protected(bench.project))
    assert protected.match("tools/verify.py")
    assert protected.match("tests/a.txt")
    assert not protected.match("main.py")
    assert "/tools/verify.py" in goal.system_prompt()


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("bash tools/all.sh", "tools/all.sh"),
        ("PORT=1 timeout 60 ./tools/all.sh --fast && echo done", "tools/all.sh"),
        ("cd tools; sh -e all.sh", "tools/all.sh"),
        ("make ci", "tools/all.sh"),
        ("just ci", "tools/all.sh"),
        ("for each in tools/*.sh; do bash $each || exit 1; done", "tools/all.sh"),
        ("npm run -s ci", "tools/all.sh"),
        ("sh tools/all.sh > page.html && grep -q total page.html", ""),
        ("sh tools/all.sh | diff - page.html", ""),
        ('test "$(sh tools/all.sh)" = 3', ""),
        ("python3 tools/ask.py", "tools/ask.py"),
        ("python3 app.py", ""),
    ],
)
def test_what_a_command_does_nothing_but_run_is_the_check(
    bench: Bench, command: str, script: str
) -> None:
    ask = "import subprocess, sys\nsys.exit(subprocess.run(['python3', 'app.py']).returncode)\n"
    bench.write(
        {
            "tools/all.sh": "python3 app.py\n",
            "tools/ask.py": ask,
            "app.py": "import sys\nsys.exit(3)\n",
            "justfile": "ci: build\n    sh tools/all.sh\n",
            "Makefile": "ALL = sh tools/all.sh\nci:\n\t@echo begin\n\t$(ALL)\n",
            "package.json": '{"scripts": {"ci": "sh tools/all.sh"}}',
        }
    )
    goal = bench.build(ShellGoal, check_command=command)
    assert goal.own_files(bench.project) == ([f"/{script}"] if script else [])


def test_what_the_check_alone_reads_belongs_to_it(bench: Bench) -> None:
    pairs = "import json, subprocess\nfor pair in json.load(open('pairs.json')):\n    print(pair)\n"
    bench.write(
        {
            "ci.sh": "set -e\nbash steps/a.sh\npython3 steps/pairs.py\n",
            "steps/a.sh": ". ./ci.conf\nwhile read -r n; do python3 app.py $n; done < list.txt\n",
            "steps/pairs.py": f"{pairs}    subprocess.run(['python3', 'app.py'])\n",
            "pairs.json": "[[2, 4]]\n",
            "ci.conf": "WANTED=4\n",
            "list.txt": "2\n",
            "app.py": "print(open('prices.json').read())\n",
            "prices.json": "[]\n",
        }
    )
    goal = bench.build(ShellGoal, check_command="bash ci.sh")
    data = ["/ci.conf", "/list.txt", "/pairs.json"]
    scripts = ["/ci.sh", "/steps/a.sh", "/steps/pairs.py"]
    assert sorted(goal.own_files(bench.project)) == sorted([*data, *scripts])


def test_a_changed_file_that_output_is_compared_with_is_told(bench: Bench, diff_of: Any) -> None:
    goal = bench.build(ShellGoal, check_command="python3 app.py | diff - result.txt")
    goal_of_any = bench.build(ShellGoal, check_command='./run | diff - "$expected"')
    assert not goal_of_any.audit(diff_of("README.md", "5"))
    (found,) = goal.audit(diff_of("result.txt", "5"))
    assert (found.path, found.reaches_runner, found.sign) == ("result.txt", False, "")


@needs_make
async def test_a_failing_recipe_is_told_by_its_place(bench: Bench) -> None:
    bench.write({"Makefile": "test: part\npart:\n\t@echo looking; exit 3\n.PHONY: test part\n"})
    result = await bench.build(MakeTestGoal).check({}, bench.project)
    assert result.report.complete
    assert result.reason == "make test ended with exit status 2: [Makefile:3: part] Error 3"
    assert "looking" in result.details


@needs_make
async def test_a_file_of_the_targets_name_is_no_success(bench: Bench) -> None:
    bench.write({"Makefile": "test:\n\ttrue\n"})
    goal = bench.build(MakeTestGoal)
    assert (await goal.check({}, bench.project)).achieved
    bench.write({"test": ""})
    result = await goal.check({}, bench.project)
    assert not result.achieved
    assert "nothing to do" in result.reason
    steering = Globs(goal.steering(bench.project))
    assert steering.match("test")
    assert not steering.match("test/new_test.c")
    assert steering.match("test/conftest.py")


@needs_make
@pytest.mark.parametrize(
    ("makefile", "reason"),
    [
        ("all:\n\ttrue\n", "No rule to make target 'test'"),
        ("test:\n    true\n", "missing separator"),
        ("test:\n\tkill -9 $$PPID\n", "ended by signal 9"),
    ],
)
async def test_a_makefile_that_cannot_be_used_is_no_complete_run(
    bench: Bench, makefile: str, reason: str
) -> None:
    bench.write({"Makefile": makefile})
    result = await bench.build(MakeTestGoal).check({}, bench.project)
    assert not result.report.complete
    assert reason in result.reason


@needs_make
async def test_a_copy_is_built_anew_where_make_can_clean(bench: Bench, tmp_path: Path) -> None:
    makefile = "test: it\n\t./it\nit: it.sh\n\tcp it.sh it; chmod +x it\nclean:\n\trm -f it\n"
    bench.write({"Makefile": makefile, "it.sh": "#!/bin/sh\nexit 1\n"})
    goal = bench.build(MakeTestGoal)
    await goal.check({}, bench.project)
    # What was built is swapped for something that passes.
    bench.write({"it": "#!/bin/sh\nexit 0\n"})
    assert (await goal.check({}, bench.project)).achieved
    copy = tmp_path / "copy"
    bench.project.rename(copy)
    assert not (await goal.check({}, copy)).achieved
    copy.rename(bench.project)


def test_what_a_makefile_may_include_later_is_set_aside(bench: Bench) -> None:
    bench.write({"Makefile": "-include local.conf\ntest:\n\ttrue\n"})
    steering = Globs(bench.build(MakeTestGoal).steering(bench.project))
    assert steering.match("local.conf")
    assert steering.match("rules/more.mk")


def test_modules_that_shadow_what_a_script_imports_are_set_aside(bench: Bench) -> None:
    steering = Globs(
        bench.build(ShellGoal, check_command="python3 check.py").steering(bench.project)
    )
    assert [steering.match(name) for name in ("json.py", "unittest/__init__.py", "ages.py")] == [
        True,
        True,
        False,
    ]
    assert not steering.match("src/json.py")


def test_a_program_that_scripts_compare_with_is_set_aside(bench: Bench) -> None:
    steering = Globs(bench.build(MakeTestGoal).steering(bench.project))
    assert steering.match("bin/diff")
    assert steering.match("tools/bin/grep")
    assert not steering.match("bin/differ")
    assert not steering.match("src/diff")


async def test_what_is_missing_is_said_before_the_run(bench: Bench) -> None:
    assert "no Makefile" in await bench.build(MakeTestGoal).ready()
    assert "names no folder" in await bench.build(MakeTestGoal, path="a/b").ready()


@pytest.mark.parametrize(
    ("makefile", "is_missing"),
    [
        ("test:\n\ttrue\n", True),
        ("test: check\n\ttrue\n", True),
        ("check.txt: app\n\ttrue\n", True),
        ("test check: app\n\ttrue\n", False),
        ("check: ## Run the tests\n\ttrue\n", False),
        ("check: $(SOURCES:.c=.o)\n\ttrue\n", False),
        ("ifdef X\n  check: app\nendif\n", False),
        (".DEFAULT:\n\t$(MAKE) -C build $@\n", False),
        ("${eval ${call rule,check}}\n", False),
        ("include more.mk\ntest:\n\ttrue\n", False),
        ("%: %.in\n\tcp $< $@\n", False),
        ("$(NAMES): app\n\ttrue\n", False),
        ("$(foreach name,check,$(eval $(name): ; true))\n", False),
        ("", True),
    ],
)
async def test_a_target_that_no_makefile_has_is_told_before_the_run(
    bench: Bench, makefile: str, is_missing: bool
) -> None:
    bench.write({"Makefile": makefile} if makefile else {})
    told = await bench.build(MakeTestGoal, target="check").ready() or ""
    assert bool(told) == is_missing, told
    told = await bench.build(ShellGoal).ready() or ""
    assert ("--option check_command" in told) == is_missing, told
    assert await bench.build(ShellGoal, check_command="make check").ready() is None


@pytest.mark.parametrize(
    "rule",
    [
        "test: ## Run the tests",
        "test: all $(TESTS:%=run-%) # slow ones too",
        "  test: all",
        "test: ${all} $@",
    ],
)
def test_a_rule_is_found_in_whatever_form(bench: Bench, rule: str) -> None:
    bench.write({"Makefile": f"{rule}\n\tsh scripts/check.sh\n", "scripts/check.sh": ""})
    assert MakeTestGoal.detect(bench.project) is not None
    assert "/scripts/check.sh" in bench.build(MakeTestGoal).protected(bench.project)


def test_a_makefile_is_only_found_by_its_target(bench: Bench) -> None:
    bench.write({"Makefile": "pytest:\n\ttrue\n"})
    assert MakeTestGoal.detect(bench.project) is None
    bench.write({"Makefile": "all test: lib\n\ttrue\n"})
    assert MakeTestGoal.detect(bench.project) is not None


def test_the_scripts_of_a_recipe_are_protected(bench: Bench) -> None:
    makefile = "test: unit\n\t./scripts/check.sh && ./app\nunit:\n\tbash run_tests.sh\n"
    bench.write({"Makefile": makefile, "scripts/check.sh": "", "run_tests.sh": "", "app": ""})
    assert "run_tests.sh" in recipe_of(makefile, "test")
    protected = Globs(bench.build(MakeTestGoal).protected(bench.project))
    assert [
        protected.match(n) for n in ("scripts/check.sh", "run_tests.sh", "Makefile", "app")
    ] == [
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    "options", [{"target": "a b"}, {"target": "-k"}, {"timeout_s": 0}, {"path": "../x"}]
)
def test_an_option_out_of_range_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        MakeTestGoal.Options(**options)


def test_what_outputs_are_compared_with_is_protected_and_what_is_mended_is_not(
    bench: Bench,
) -> None:
    bench.write(
        {
            "check.sh": "./main.py < input.txt | diff - data/expected.txt\ncat cases.json\n",
            "main.py": "",
            "input.txt": "",
            "cases.json": "[]",
            "data/expected.txt": "",
            "expected.py": "",
        }
    )
    goal = bench.build(ShellGoal, check_command="sh check.sh && python3 expected.py")
    protected = Globs(goal.protected(bench.project))
    for path in ("check.sh", "cases.json", "data/expected.txt"):
        assert protected.match(path), path
    for path in ("main.py", "input.txt", "expected.py"):
        assert not protected.match(path), path


@pytest.mark.parametrize(
    ("name", "belongs"),
    [
        ("latest.c", False),
        ("eval.c", False),
        ("checkout.py", False),
        ("retrieval.py", False),
        ("preferences.json", False),
        ("eval.py", True),
        ("tests.c", True),
        ("runTests.sh", True),
        ("linkcheck.py", True),
        ("test1.sh", True),
        ("expectedTotals.txt", True),
    ],
)
def test_a_name_tells_what_checks_by_its_words(bench: Bench, name: str, belongs: bool) -> None:
    bench.write({name: ""})
    goal = bench.build(ShellGoal, check_command=f"./build {name}")
    assert Globs(goal.own_files(bench.project)).match(name) is belongs


@needs_make
async def test_what_was_touched_in_place_is_made_again_on_a_copy(
    bench: Bench, tmp_path: Path
) -> None:
    makefile = "test: .tested\n\t@echo done\n.tested:\n\tgrep -q right answer\n\ttouch .tested\n"
    bench.write({"Makefile": makefile, "answer": "wrong\n"})
    goal = bench.build(MakeTestGoal)
    assert not (await goal.check({}, bench.project)).achieved
    bench.write({".tested": ""})
    assert (await goal.check({"iteration": 1}, bench.project)).achieved
    copy = tmp_path / "copy"
    shutil.copytree(bench.project, copy)
    assert not (await goal.check({"iteration": 1}, copy)).achieved
    (copy / "answer").write_text("right\n")
    assert (await goal.check({"iteration": 1}, copy)).achieved


@needs_make
def test_a_script_that_is_the_whole_target_and_an_included_file_are_protected(
    bench: Bench,
) -> None:
    makefile = "include settings\ntest:\n\t@sh ci.sh\nother:\n\tsh more.sh\n"
    bench.write({"Makefile": makefile, "ci.sh": "", "more.sh": "", "settings": ""})
    protected = Globs(bench.build(MakeTestGoal).protected(bench.project))
    assert protected.match("ci.sh")
    assert protected.match("settings")
    assert not protected.match("more.sh")


def test_programs_and_start_up_files_of_the_projects_environment_decide(bench: Bench) -> None:
    site = ".venv/lib/python3.12/site-packages"
    bench.write(
        {
            ".venv/pyvenv.cfg": "",
            ".venv/bin/python": "",
            ".venv/bin/diff": "",
            f"{site}/hook.pth": "import os",
            f"{site}/folder.pth": "/somewhere",
            f"{site}/pytest/__init__.py": "",
            f"{site}/requests/__init__.py": "",
        }
    )
    found = command_environment(str(bench.project / ".venv/bin/python"), bench.project)
    assert sorted(path.name for path in found.steering) == ["diff", "hook.pth", "python"]
    assert sorted(path.name for path in found.files) == ["__init__.py", "pyvenv.cfg"]
    assert not command_environment("/usr/bin/python3", bench.project).steering


@pytest.mark.parametrize("before", ["", "\ufeff", "/a\x0b", "/a\x0c", "/a\u2028", "/a\x85", "/a\r"])
@pytest.mark.parametrize("line", ["import os", "import\tos"])
def test_each_line_that_python_runs_at_start_decides(bench: Bench, before: str, line: str) -> None:
    place = ".venv/lib/python3.12/site-packages/hook.pth"
    bench.write({".venv/pyvenv.cfg": "", ".venv/bin/python": "", place: f"{before}{line}"})
    found = command_environment(str(bench.project / ".venv/bin/python"), bench.project)
    assert bench.project / place in found.steering


def test_source_that_asks_who_runs_it_is_suspect(diff_of: Any) -> None:
    found = audit_commands(diff_of("main.py", 'if os.environ.get("MAKELEVEL"):'))
    assert [each.reaches_runner for each in found] == [True]
    assert audit_commands(diff_of("main.py", "    return total")) == []


@needs_make
async def test_a_target_below_what_is_a_file_is_not_there(bench: Bench, tmp_path: Path) -> None:
    bench.write({"Makefile": "test: build/app\n\t./run.sh\nbuild/app:\n\ttrue\n", "build": ""})
    bench.write({"run.sh": "true\n"})
    (bench.project / "run.sh").chmod(0o755)
    goal = bench.build(MakeTestGoal)
    assert (await goal.check({}, bench.project)).report.complete
    copy = tmp_path / "copy"
    shutil.copytree(bench.project, copy)
    assert (await goal.check({}, copy)).report.complete


@needs_make
async def test_what_a_passing_target_prints_is_not_taken_for_words_of_make(bench: Bench) -> None:
    bench.write({"Makefile": "test:\n\t@echo 'ok: a missing separator is refused'\n"})
    result = await bench.build(MakeTestGoal).check({}, bench.project)
    assert result.achieved, result.reason


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("pages/index.html", "was changed, and the check compares output with it"),
        ("sensor/limits.toml", "was changed, and the check reads it"),
        ("sensor/other.toml", ""),
        ("sensor/read.py", ""),
    ],
)
def test_changed_files_that_the_check_reads_are_told(bench: Bench, path: str, what: str) -> None:
    bench.write({"check.sh": "./made | diff - pages/index.html\npython3 sensor/read.py\n"})
    bench.write({"sensor/limits.toml": "", "ci/drift.sh": "grep 0.02 sensor/limits.toml\n"})
    bench.write({path: "x\n"})
    goal = bench.build(ShellGoal, check_command="bash check.sh && bash ci/drift.sh")
    diff = f"--- a/{path}\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
    assert [each.what for each in goal.audit(diff)] == ([what] if what else [])
