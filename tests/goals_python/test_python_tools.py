"""The tools `run_pytest` and `python_exec`, in a real sandbox."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from retrai_core import Tool
from retrai_goals_python.pytest.run_tool import RunPytest, RunPytestArgs, RunPytestOptions
from retrai_goals_python.python_exec_tool import PythonExec, PythonExecArgs, PythonExecOptions

FILES = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "test_calc.py": """
        from calc import add

        def test_add():
            assert add(2, 3) == 5

        def test_zero():
            assert add(0, 0) == 0
        """,
}


def run_pytest_tool(context, **options) -> Tool:
    return RunPytest(RunPytestOptions(**options), context)


def python_exec_tool(context, **options) -> Tool:
    return PythonExec(PythonExecOptions(**options), context)


async def test_all_tests_are_run_and_the_failing_one_explained(make_project, context):
    make_project(FILES)
    result = await run_pytest_tool(context).run(RunPytestArgs(), context)
    assert result.ok
    assert result.content.startswith("1 of 2 tests fails (")
    assert "FAILED test_calc.py::test_add" in result.content
    assert "assert -1 == 5" in result.content
    assert result.data["cases"] == {
        "test_calc.py::test_add": "failed",
        "test_calc.py::test_zero": "passed",
    }


async def test_targets_and_keywords_choose_tests(make_project, context):
    make_project(FILES)
    tool = run_pytest_tool(context)
    one = await tool.run(RunPytestArgs(targets="test_calc.py::test_zero"), context)
    assert list(one.data["cases"]) == ["test_calc.py::test_zero"]
    assert one.content.startswith("1 test passes")
    other = await tool.run(RunPytestArgs(keyword="zero"), context)
    assert list(other.data["cases"]) == ["test_calc.py::test_zero"]
    assert tool.summary(RunPytestArgs()) == "all tests"
    assert tool.summary(RunPytestArgs(targets=["a.py"], keyword="x")) == "a.py -k x"


@pytest.mark.parametrize("target", ["-p", "--rootdir=/", "@file", " ", ""])
def test_a_target_cannot_be_an_option(target):
    with pytest.raises(ValidationError, match="no file, folder or test id"):
        RunPytestArgs(targets=[target])


async def test_a_wrong_target_is_an_answer_with_its_reason(make_project, context):
    make_project(FILES)
    result = await run_pytest_tool(context).run(RunPytestArgs(targets=["test_nothing.py"]), context)
    assert not result.ok
    assert "test_nothing.py" in result.content


async def test_the_tool_tests_as_the_goal_does(make_project, make_goal, context):
    make_project({f"packages/one/{name}": text for name, text in FILES.items()})
    context.goal_part = make_goal(path="packages/one", args="-k add")
    result = await run_pytest_tool(context).run(RunPytestArgs(), context)
    assert list(result.data["cases"]) == ["test_calc.py::test_add"]


async def test_results_stay_within_their_limits(make_project, context):
    make_project(
        {
            "test_many.py": """
                import pytest

                @pytest.mark.parametrize("n", range(60))
                def test_n(n):
                    print("x" * 10_000)
                    assert n == "y" * 5000
                """
        }
    )
    tool = run_pytest_tool(context, max_chars=6000, max_chars_per_failure=2000)
    result = await tool.run(RunPytestArgs(), context)
    assert len(result.content) <= 6000
    assert result.content.startswith("60 of 60 tests fail")
    assert "more failing" in result.content


async def test_code_sees_the_projects_modules(make_project, context):
    project = make_project(FILES)
    code = "import calc\nif __name__ == '__main__':\n    print('sum', calc.add(5, 3), 'ü')\n"
    result = await python_exec_tool(context).run(PythonExecArgs(code=code), context)
    assert result.ok
    assert result.content == "sum 2 ü"
    assert sorted(path.name for path in project.iterdir()) == ["calc.py", "test_calc.py"]


async def test_an_exception_shows_its_line(make_project, context):
    make_project(FILES)
    code = "x = 1\nraise ValueError('wrong')\n"
    result = await python_exec_tool(context).run(PythonExecArgs(code=code), context)
    assert not result.ok
    assert 'File "code.py", line 2' in result.content
    assert "raise ValueError('wrong')" in result.content
    assert "[exit status 1]" in result.content


async def test_code_that_hangs_is_ended(context):
    args = PythonExecArgs(code="print('begun', flush=True)\nwhile True: pass", timeout_s=1.0)
    result = await python_exec_tool(context).run(args, context)
    assert not result.ok
    assert result.content == "begun\n[ended after 1 s, before it was done]"


async def test_a_flood_is_cut(context):
    args = PythonExecArgs(code="print('x' * 20_000_000)")
    result = await python_exec_tool(context, max_chars=1000).run(args, context)
    assert result.ok
    assert len(result.content) <= 1000
    assert "left out" in result.content


async def test_silence_is_said(context):
    result = await python_exec_tool(context).run(PythonExecArgs(code="x = 1"), context)
    assert result.content == "[no output]"


async def test_code_runs_in_an_old_interpreter(context, old_python):
    context.python = old_python
    args = PythonExecArgs(code="import sys; print(sys.version_info[0])")
    assert (await python_exec_tool(context).run(args, context)).content == "3"


def test_code_is_summarized_by_its_first_line(context):
    args = PythonExecArgs(code="\nimport calc\nprint(1)")
    assert python_exec_tool(context).summary(args) == "import calc"
