"""Whatever a project does to pytest, the run ends, and says what happened."""

from __future__ import annotations

import os
import stat
import sys

import psutil

from retrai_goals_python.pytest.run import describe_run
from retrai_goals_python.runner import render_failures, run_pytest


async def test_a_hanging_test_is_named(make_project, run):
    make_project(
        {
            "test_hang.py": """
                import subprocess, sys, time

                def test_before():
                    pass

                def test_hangs():
                    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
                    open("child.pid", "w").write(str(child.pid))
                    time.sleep(600)

                def test_after():
                    pass
                """
        }
    )
    found = await run(timeout_s=3.0)
    assert not found.complete
    assert found.cases == {
        "test_hang.py::test_before": "passed",
        "test_hang.py::test_hangs": "error",
    }
    assert found.problem == (
        "pytest was still running after 3 s; running then: test_hang.py::test_hangs"
    )
    assert "test_hang.py::test_hangs" in render_failures(found)
    assert found.failures[0].location == "test_hang.py:9"
    assert ">  9 |     time.sleep(600)" in found.failures[0].text


async def test_a_hang_leaves_no_process(make_project, run):
    project = make_project(
        {
            "test_hang.py": """
                import subprocess, sys, time

                def test_hangs():
                    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
                    with open("child.pid", "w") as file:
                        file.write(str(child.pid))
                    time.sleep(600)
                """
        }
    )
    await run(timeout_s=2.0)
    assert not psutil.pid_exists(int((project / "child.pid").read_text()))


async def test_a_hang_while_collecting_is_told_apart(make_project, run):
    make_project({"test_hang.py": "import time\ntime.sleep(600)\n"})
    found = await run(timeout_s=2.0)
    assert "no test had been started" in found.problem
    assert not found.complete


async def test_a_process_that_ends_early_is_no_success(make_project, run):
    make_project(
        {
            "test_exit.py": """
                import os

                def test_fine():
                    pass

                def test_exits():
                    os._exit(0)
                """
        }
    )
    found = await run()
    assert found.exit_status == 0
    assert not found.complete
    assert not found.all_passed
    assert found.cases == {"test_exit.py::test_fine": "passed", "test_exit.py::test_exits": "error"}
    assert found.problem == (
        "pytest's process ended with exit status 0 while test_exit.py::test_exits ran, "
        "without the end of its report"
    )


async def test_a_crash_names_the_signal(make_project, run):
    make_project({"test_crash.py": "import os\ndef test_c():\n    os.kill(os.getpid(), 11)\n"})
    found = await run("-p", "no:faulthandler")
    assert "ended by signal 11 while test_crash.py::test_c ran" in found.problem


async def test_an_exit_that_claims_success_is_no_success(make_project, run):
    make_project({"test_exit.py": "import pytest\ndef test_x():\n    pytest.exit('done', 0)\n"})
    found = await run()
    assert not found.complete
    assert "done" in found.problem


async def test_a_crash_of_pytest_itself_is_told(make_project, run):
    make_project(
        {
            "conftest.py": "def pytest_collection_modifyitems(items):\n    raise OSError('torn')\n",
            "test_a.py": "def test_a(): pass\n",
        }
    )
    found = await run()
    assert not found.complete
    assert "torn" in found.problem


async def test_a_conftest_that_cannot_be_imported_is_told(make_project, run):
    make_project({"conftest.py": "import surely_not_here\n", "test_a.py": "def test_a(): pass\n"})
    found = await run()
    assert not found.complete
    assert "surely_not_here" in found.problem
    assert "conftest.py" in render_failures(found)


async def test_a_broken_configuration_is_told(make_project, run):
    make_project({"pytest.ini": "[pytest]\naddopts = --no-such-option\n"})
    found = await run()
    assert not found.complete
    assert "--no-such-option" in found.problem + found.output_tail
    make_project({"pytest.ini": "[pytest\n"})
    found = await run()
    assert not found.complete
    assert "pytest.ini" in found.problem


async def test_no_tests_is_complete_and_no_success(make_project, run):
    make_project({"readme.txt": "nothing to test\n"})
    found = await run()
    assert found.complete
    assert found.exit_status == 5
    assert not found.all_passed
    assert describe_run(found) == "no tests were collected"


async def test_a_target_that_is_not_there_is_told(make_project, run):
    make_project({"test_a.py": "def test_a(): pass\n"})
    found = await run(targets=["test_b.py"])
    assert not found.complete
    assert found.problem.endswith("ERROR: file or directory not found: test_b.py")
    found = await run(targets=["test_a.py::test_b"])
    assert found.problem.endswith("test_a.py::test_b"), "and not the line that explains it"


async def test_a_python_without_pytest_says_what_to_type(make_project, run, bare_python):
    make_project({"test_a.py": "def test_a(): pass\n"})
    found = await run(python=bare_python)
    assert not found.complete
    assert f"{bare_python} -m pip install pytest" in found.problem


async def test_a_python_that_is_not_there_is_named(make_project, run):
    make_project({"test_a.py": "def test_a(): pass\n"})
    found = await run(python="/nowhere/python")
    assert not found.complete
    assert "/nowhere/python" in found.problem


async def test_a_flood_of_output_keeps_every_case(make_project, run):
    make_project(
        {
            "test_flood.py": """
                import os

                def test_writes_to_the_terminal(capfd):
                    with capfd.disabled():
                        for _ in range(50):
                            os.write(1, b"x" * 1_000_000)

                def test_prints():
                    print("y" * 5_000_000)
                    assert False
                """
        }
    )
    found = await run()
    assert found.complete
    assert list(found.cases.values()) == ["passed", "failed"]
    assert len(found.failures[0].text) <= 4000
    assert len(found.output_tail) <= 3000


async def test_three_thousand_tests_are_three_thousand_cases(make_project, run):
    make_project(
        {
            "test_many.py": """
                import pytest

                @pytest.mark.parametrize("n", range(3000))
                def test_n(n):
                    assert n != 1500
                """
        }
    )
    found = await run("-q")
    assert found.complete
    assert found.counts() == {"failed": 1, "passed": 2999}
    assert describe_run(found) == "1 of 3000 tests fails"


async def test_nine_hundred_equal_errors_are_told_once(make_project, run):
    make_project(
        {
            "conftest.py": """
                import pytest

                @pytest.fixture(autouse=True)
                def needs_a_module():
                    import surely_not_here
                """,
            "test_many.py": """
                import pytest

                @pytest.mark.parametrize("n", range(900))
                def test_n(n):
                    pass
                """,
        }
    )
    found = await run("-q")
    assert found.counts() == {"error": 900}
    text = render_failures(found)
    assert text.count("ModuleNotFoundError") == 1
    assert "The same error in 899 more" in text


async def test_a_failure_with_an_undecodable_byte_is_told(make_project, run):
    make_project({"test_a.py": "def test_a():\n    raise ValueError('caf\\udce9')\n"})
    found = await run()
    assert found.complete, found.problem
    assert found.cases == {"test_a.py::test_a": "failed"}
    assert "caf?" in found.failures[0].message


async def test_a_read_only_project_is_tested_all_the_same(make_project, run):
    project = make_project({"test_a.py": "def test_a(): pass\n"})
    project.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        found = await run()
    finally:
        project.chmod(stat.S_IRWXU)
    assert found.cases == {"test_a.py::test_a": "passed"}
    assert found.all_passed


async def test_a_test_that_breaks_its_process_still_reports(make_project, run):
    make_project(
        {
            "test_rough.py": """
                import json, os, sys

                def test_closes_every_file(tmp_path):
                    os.chdir(tmp_path)
                    os.closerange(20, 200)

                def test_replaces_functions(monkeypatch):
                    monkeypatch.setattr(os, "open", None)
                    monkeypatch.setattr(os, "write", None)
                    monkeypatch.setattr(json, "dumps", None)
                    monkeypatch.setattr(os, "environ", {})
                    monkeypatch.setattr(sys, "path", [])

                def test_last():
                    pass
                """
        }
    )
    found = await run()
    assert found.problem == ""
    assert list(found.cases.values()) == ["passed"] * 3


async def test_nothing_is_left_in_the_temporary_folder(
    make_project, context, tmp_path, monkeypatch
):
    make_project({"test_a.py": "def test_a(): pass\n"})
    here = tmp_path / "temporary"
    here.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(here))
    await run_pytest(context.sandbox, sys.executable, context.project)
    assert os.listdir(here) == []
