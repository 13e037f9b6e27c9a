"""The goal `pytest`: achieved only when every case ran and passed."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import textwrap

import pytest
from pydantic import ValidationError

from retrai_core import Catalog, UsageError
from retrai_goals_python.environment.probing import how_to_install
from retrai_goals_python.pytest.goal import PytestGoal, PytestGoalOptions
from retrai_goals_python.runner import PytestRun


async def test_a_passing_suite_achieves_the_goal(make_project, make_goal, context):
    make_project({"test_a.py": "def test_a(): pass\ndef test_b(): pass\n"})
    result = await make_goal().check({}, context.project)
    assert result.achieved
    assert result.reason == "2 tests pass"
    assert result.details == ""
    assert result.report is not None
    assert result.report.complete
    assert result.report.interpreter == sys.executable
    assert result.report.command == (sys.executable, "-m", "pytest")


async def test_failures_are_counted_and_explained(make_project, make_goal, context):
    make_project({"test_a.py": "def test_a():\n    assert 1 == 2\ndef test_b(): pass\n"})
    result = await make_goal().check({}, context.project)
    assert not result.achieved
    assert result.reason == "1 of 2 tests fails"
    assert "assert 1 == 2" in result.details
    assert "test_a.py:2" in result.details


async def test_a_suite_of_skipped_tests_achieves_nothing(make_project, make_goal, context):
    make_project({"test_a.py": "import pytest\n@pytest.mark.skip\ndef test_a(): pass\n"})
    result = await make_goal().check({}, context.project)
    assert not result.achieved
    assert result.reason == "no test was run: all 1 were skipped"


async def test_no_tests_achieves_nothing(make_project, make_goal, context):
    result = await make_goal().check({}, context.project)
    assert not result.achieved
    assert result.reason == "no tests were collected"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"targets": "test_a.py::test_gone"}, "there is no test test_a.py::test_gone"),
        ({"targets": "tests/test_b.py::test_one"}, "not found: tests/test_b.py::test_one"),
        ({"targets": "no_such.package", "args": "--pyargs"}, "not found: no_such.package"),
        ({"args": "--no-such-option=3"}, "unrecognized arguments: --no-such-option"),
        ({"args": "--maxfail=x"}, "argument --maxfail: "),
        ({"args": ["-m", "a b"]}, "Wrong expression passed to '-m'"),
        ({"args": "-p no_such_plugin"}, "no_such_plugin"),
    ],
)
async def test_options_that_pytest_refuses_end_the_run_before_its_first_turn(
    make_project, make_goal, context, options, named
):
    make_project({"test_a.py": "def test_a(): pass\n"})
    with pytest.raises(UsageError, match="the goal pytest cannot be checked") as caught:
        await make_goal(**options).check({}, context.project)
    assert named in caught.value.message
    later = await make_goal(**options).check({"iteration": 1}, context.project)
    assert not later.achieved
    context.task = "write what is missing"
    assert not (await make_goal(**options).check({}, context.project)).achieved


async def test_what_pytest_refuses_for_the_project_s_sake_is_a_result(
    make_project, make_goal, context
):
    make_project({"pytest.ini": "[pytest]\naddopts = --no-such-option\n", "test_a.py": ""})
    result = await make_goal(args="-q").check({}, context.project)
    assert result.reason.endswith("unrecognized arguments: --no-such-option")
    make_project({"pytest.ini": "[pytest]\n", "test_a.py": "def test_a()\n    pass\n"})
    result = await make_goal(targets="test_a.py::test_a").check({}, context.project)
    assert not result.achieved


async def test_a_test_that_the_sources_may_bring_into_being_is_no_wrong_target(
    make_project, make_goal, context
):
    make_project(
        {
            "src.py": "NAMES = ['a']\n",
            "test_a.py": "import pytest, src\n"
            "@pytest.mark.parametrize('n', src.NAMES)\ndef test_n(n): pass\n"
            "if hasattr(src, 'f'):\n    def test_f(): pass\n",
        }
    )
    for target in ("test_a.py::test_n[b]", "test_a.py::test_f"):
        result = await make_goal(targets=target).check({}, context.project)
        assert not result.achieved


async def test_a_package_is_a_target_where_the_configuration_says_so(
    make_project, make_goal, context
):
    make_project(
        {
            "pytest.ini": "[pytest]\naddopts = --pyargs\npythonpath = .\n",
            "pkg/__init__.py": "",
            "pkg/tests/__init__.py": "",
            "pkg/tests/test_a.py": "def test_a(): pass\n",
        }
    )
    goal = make_goal(targets="pkg.tests")
    assert await goal.ready() is None
    assert (await goal.check({}, context.project)).achieved


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("a.py", "(a.py:2: SyntaxError: expected ':', in test_a.py)"),
        ("test_a.py", "(test_a.py:2: SyntaxError: expected ':')"),
    ],
)
async def test_a_syntax_error_is_told_with_its_place(
    make_project, make_goal, context, broken, said
):
    files = {"a.py": "n = 1\ndef a(): pass\n", "test_a.py": "import a\ndef test_a(): pass\n"}
    files[broken] = files[broken].replace("():", "()")
    make_project(files)
    result = await make_goal().check({}, context.project)
    assert result.reason == f"no tests were collected {said}"


async def test_an_exit_status_that_disagrees_achieves_nothing(make_project, make_goal, context):
    make_project(
        {
            "conftest.py": """
                def pytest_sessionfinish(session):
                    print("coverage of 10% is too little")
                    session.exitstatus = 1
                """,
            "test_a.py": "def test_a(): pass\n",
        }
    )
    result = await make_goal().check({}, context.project)
    assert not result.achieved
    assert result.reason == "1 test passes, but pytest ended with exit status 1"
    assert "coverage of 10% is too little" in result.details


async def test_a_hang_is_a_result(make_project, make_goal, context):
    make_project({"test_a.py": "import time\ndef test_hang():\n    time.sleep(600)\n"})
    result = await make_goal(timeout_s=8).check({}, context.project)
    assert not result.achieved
    assert result.report is not None
    assert not result.report.complete
    assert "test_a.py::test_hang" in result.reason


async def test_a_folder_of_a_monorepo_is_checked_from_within(make_project, make_goal, context):
    make_project(
        {
            "one/test_one.py": "def test_one(): pass\n",
            "two/test_two.py": "def test_two(): assert False\ndef test_three(): pass\n",
        }
    )
    assert (await make_goal(path="one").check({}, context.project)).achieved
    goal = make_goal(path="two", targets="test_two.py::test_three", args="-q --no-header")
    result = await goal.check({}, context.project)
    assert result.achieved
    assert result.report is not None
    assert list(result.report.command[3:]) == ["-q", "--no-header", "test_two.py::test_three"]


@pytest.mark.parametrize("path", ["/etc", "../elsewhere", "a/../../b"])
def test_a_path_outside_the_project_is_refused(path):
    with pytest.raises(ValidationError, match="inside the project"):
        PytestGoalOptions(path=path)


@pytest.mark.parametrize("options", [{"timeout_s": 0}, {"max_chars_per_failure": 1}, {"pth": "x"}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ValidationError):
        PytestGoalOptions.model_validate(options)


async def test_it_says_what_is_missing_before_the_first_step(make_goal, context, bare_python):
    assert await make_goal().ready() is None
    assert "names no folder" in (await make_goal(path="nowhere").ready() or "")
    context.python = bare_python
    assert f"{bare_python} -m pip install pytest" in (await make_goal().ready() or "")
    # A Python of the system may refuse pip.
    hint = how_to_install("/nowhere/bin/python3", "pytest")
    assert hint.endswith("/nowhere/bin/python3 -m venv .venv && .venv/bin/pip install pytest")
    context.python = "/nowhere/python"
    assert "/nowhere/python" in (await make_goal().ready() or "")


async def test_a_newly_installed_package_changes_the_external_state(
    make_goal, context, bare_python
):
    context.python = bare_python
    goal = make_goal()
    before = await goal.external_state(context.project)
    assert await goal.external_state(context.project) == before
    command = [bare_python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: ASYNC221
    module = f"{done.stdout.strip()}/newly_installed.py"
    with open(module, "w") as file:  # noqa: ASYNC230
        file.write("")
    assert await goal.external_state(context.project) != before


EVIDENCE = [
    ({"pytest.ini": "[pytest]\n"}, "pytest.ini"),
    (
        {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q'\n"},
        "pyproject.toml: pytest",
    ),
    ({"tox.ini": "[tox]\n\n[pytest]\n"}, "tox.ini: [pytest]"),
    ({"setup.cfg": "[tool:pytest]\n"}, "setup.cfg: [tool:pytest]"),
    ({"tests/unit/test_x.py": ""}, "tests/unit/test_x.py"),
    ({"x_test.py": ""}, "x_test.py"),
    ({"src/pkg/tests/test_y.py": ""}, "src/pkg/tests/test_y.py"),
    ({"conftest.py": ""}, "conftest.py"),
    ({"pyproject.toml": "[project]\ndependencies = ['pytest>=8']\n"}, "pyproject.toml: pytest"),
    ({"tests/checks.py": ""}, "tests/checks.py"),
    ({"pyproject.toml": "[project]\nname = 'x'\n"}, None),
    ({"tox.ini": "[tox]\n"}, None),
    ({"tests/test_x.js": "", "node_modules/x/test_y.py": "", ".venv/test_z.py": ""}, None),
]


@pytest.mark.parametrize(("files", "evidence"), EVIDENCE)
def test_a_project_is_recognized_by_what_lies_in_it(make_project, files, evidence):
    hits = Catalog.configured(project := make_project(files)).detect(project)
    found = {hit.record.name: hit.evidence for hit in hits}
    assert found.get("pytest") == evidence
    assert PytestGoal.detect(project) is not None, "a marker is enough"


def test_the_prompt_names_the_rules():
    goal = PytestGoal(PytestGoalOptions(), None)  # type: ignore[arg-type]  # no run is needed
    prompt = goal.system_prompt()
    assert "run_pytest" in prompt
    assert "protected" in prompt
    assert "run_pytest" in goal.default_tools


async def test_the_interpreter_of_the_project_is_used(make_project, make_goal, context, tmp_path):
    """A project's own environment, made the way people make them."""
    folder = tmp_path / "environment"
    command = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: ASYNC221
    python = folder / "bin" / "python"
    # Offline stand-in for an installation: the environment sees our own packages by a path file.
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    site = folder / "lib" / version / "site-packages"
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    make_project(
        {
            "test_a.py": textwrap.dedent(
                f"""
                import sys
                def test_prefix():
                    assert sys.prefix == {str(folder)!r}
                """
            )
        }
    )
    context.python = str(python)
    assert (await make_goal().check({}, context.project)).achieved


def test_a_run_knows_its_counts():
    run = PytestRun({"a": "passed", "b": "xfailed"}, (), True, 0, ("pytest",), "python", 1.0)
    assert run.counts() == {"passed": 1, "xfailed": 1}
    assert run.all_passed
