"""The goal `pyright`, on real projects with the real pyright."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from pydantic import ValidationError

from retrai_goals_python.pyright.files import checked_files, read_configuration
from retrai_goals_python.pyright.goal import PyrightGoal, PyrightGoalOptions, find_pyright
from retrai_goals_python.pyright.output import read_report


@pytest.fixture(scope="session")
def pyright() -> None:
    command = find_pyright(sys.executable)
    if command is None:
        pytest.skip("needs pyright: pip install 'pyright[nodejs]'")
    done = subprocess.run([*command, "--version"], capture_output=True, check=False, timeout=300)
    if done.returncode != 0:
        pytest.skip("needs pyright with Node.js: pip install 'pyright[nodejs]'")


def goal_for(context, **options) -> PyrightGoal:
    return PyrightGoal(PyrightGoalOptions.model_validate(options), context)


FILES = {
    "pyrightconfig.json": '{"reportUnusedVariable": "warning", /* a comment */ "strict": [],}',
    "src/pkg/__init__.py": "",
    "src/pkg/wrong.py": 'x: int = "a"\nimport os\ny = os.nope\n',
    "src/pkg/right.py": "def f() -> None:\n    unused = 1\n",
    "build/.hidden/other.py": "x: int = 'a'\n",
}


@pytest.mark.usefixtures("pyright")
async def test_errors_are_told_by_file_with_rule_and_line(make_project, context):
    make_project(FILES)
    goal = goal_for(context)
    assert await goal.ready() is None
    result = await goal.check({}, context.project)
    assert not result.achieved
    assert result.reason == "2 errors in 1 of 3 files"
    assert result.report is not None
    assert result.report.cases == {
        "src/pkg/__init__.py": "passed",
        "src/pkg/right.py": "passed",
        "src/pkg/wrong.py": "failed",
    }
    assert "src/pkg/wrong.py: 2 found" in result.details
    assert "(reportAssignmentType)" in result.details
    assert "3:8 error:" in result.details
    assert "y = os.nope" in result.details
    assert "2:5 warning:" in result.details


@pytest.mark.usefixtures("pyright")
async def test_mended_types_achieve_the_goal_unless_warnings_count(make_project, context):
    make_project({**FILES, "src/pkg/wrong.py": "x: int = 1\n"})
    result = await goal_for(context, level="error").check({}, context.project)
    assert result.achieved
    assert result.reason == "no errors in 3 files"
    assert result.details == ""
    result = await goal_for(context, warnings_as_errors=True).check({}, context.project)
    assert not result.achieved
    assert result.report is not None
    assert result.report.cases["src/pkg/right.py"] == "failed"


@pytest.mark.usefixtures("pyright")
async def test_nothing_to_check_achieves_nothing(make_project, context):
    make_project({"pyrightconfig.json": "{}", "readme.txt": ""})
    result = await goal_for(context).check({}, context.project)
    assert not result.achieved
    assert result.reason == "pyright found no file to check"


@pytest.mark.usefixtures("pyright")
async def test_settings_that_pyright_cannot_read_are_told(make_project, context):
    make_project({"pyrightconfig.json": "{", "a.py": "x = 1\n"})
    result = await goal_for(context).check({}, context.project)
    assert not result.achieved
    assert result.report is not None
    assert not result.report.complete
    assert "pyrightconfig.json" in result.reason


@pytest.mark.usefixtures("pyright")
async def test_a_folder_of_a_monorepo_is_checked_from_within(make_project, context):
    make_project({"one/a.py": "x: int = 1\n", "two/b.py": "x: int = 'a'\n"})
    assert (await goal_for(context, path="one").check({}, context.project)).achieved
    result = await goal_for(context, targets="two").check({}, context.project)
    assert result.report is not None
    assert result.report.cases == {"two/b.py": "failed"}


async def test_a_hanging_pyright_is_a_result(make_project, context, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    slow = folder / "pyright"
    slow.write_text("#!/bin/sh\nsleep 600\n")
    slow.chmod(0o755)
    context.python = str(folder / "python")
    result = await goal_for(context, timeout_s=1).check({}, context.project)
    assert not result.achieved
    assert result.report is not None
    assert not result.report.complete
    assert "still running after 1 s" in result.reason


async def test_a_pyright_that_cannot_start_says_what_to_type(make_project, context, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    broken = folder / "pyright"
    broken.write_text("#!/bin/sh\necho 'node: not found' >&2\nexit 127\n")
    broken.chmod(0o755)
    context.python = str(folder / "python")
    problem = await goal_for(context).ready()
    assert problem is not None
    assert "node: not found" in problem
    assert "pip install 'pyright[nodejs]'" in problem
    result = await goal_for(context).check({}, context.project)
    assert result.report is not None
    assert not result.report.complete
    assert "node: not found" in result.reason


SCOPES = [
    ({}, ["a.py", "build/c.py", "src/b.py", "src/b.pyi"]),
    ({"include": ["src"]}, ["src/b.py", "src/b.pyi"]),
    ({"exclude": ["**/b.*"]}, [".hidden/e.py", "a.py", "build/c.py", "node_modules/d.py"]),
    ({"include": ["s*/b.py", "a.py"]}, ["a.py", "src/b.py"]),
    ({"include": ["**/c.py"], "exclude": []}, ["build/c.py"]),
]


@pytest.mark.parametrize(("settings", "expected"), SCOPES)
def test_the_files_in_scope_are_cases(make_project, settings, expected):
    project = make_project(
        {
            "a.py": "",
            "src/b.py": "",
            "src/b.pyi": "",
            "build/c.py": "",
            "node_modules/d.py": "",
            ".hidden/e.py": "",
            "env/pyvenv.cfg": "",
            "env/lib/f.py": "",
            "notes.txt": "",
        }
    )
    assert checked_files(project) or settings
    (project / "pyrightconfig.json").write_text(json.dumps(settings))
    assert checked_files(project) == expected


def test_a_target_replaces_the_configured_scope(make_project):
    project = make_project(
        {"pyrightconfig.json": '{"include": ["src"]}', "a.py": "", "src/b.py": ""}
    )
    assert checked_files(project, ["a.py"]) == ["a.py"]


def test_settings_are_found_in_either_file(make_project):
    project = make_project({"pyproject.toml": "[tool.pyright]\nexclude = ['x']\n"})
    assert read_configuration(project) == {"exclude": ["x"]}
    (project / "pyrightconfig.json").write_text('{"a": "http://x", // b\n "c": [1,],}')
    assert read_configuration(project) == {"a": "http://x", "c": [1]}
    (project / "pyrightconfig.json").write_text("{")
    assert read_configuration(project) == {}


@pytest.mark.parametrize("output", ["", "no json", "{}", "[1]", '{"summary": 3}'])
def test_an_output_without_a_report_is_none(output):
    assert read_report(output) is None


@pytest.mark.parametrize("options", [{"path": ".."}, {"level": "all"}, {"timeout_s": -1}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ValidationError):
        PyrightGoalOptions.model_validate(options)
