"""The reporter changes nothing that the tests can see, and no outcome."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LOOK_AROUND = """
    import json, os, signal, sys

    def test_look(request):
        name = os.environ.get("PYTEST_XDIST_WORKER", "main")
        seen = {
            "path": sys.path,
            "environ": dict(os.environ),
            "argv0": os.path.basename(sys.argv[0]),
            "rootdir": str(request.config.rootpath),
            "inifile": str(request.config.inipath),
            "cwd": os.getcwd(),
            "sigterm": str(signal.getsignal(signal.SIGTERM)),
            "threads": len(os.listdir("/proc/self/task")) if os.path.isdir("/proc") else 0,
        }
        with open("seen.json", "w") as file:
            json.dump(seen, file)
    """
OURS = {"PYTHONDONTWRITEBYTECODE", "COVERAGE_FILE"}
CHANGING = {"PYTEST_XDIST_TESTRUNUID", "PYTEST_CURRENT_TEST", "LC_CTYPE", "PYTEST_VERSION", "PWD"}


@pytest.mark.parametrize("args", [(), ("-p", "xdist", "-n", "1")], ids=["plain", "xdist"])
async def test_tests_see_the_path_and_environment_of_the_plain_command(
    make_project, context, run, args, tmp_path, monkeypatch
):
    folder = tmp_path / "on the path"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(folder))
    project = make_project({"tests/test_look.py": LOOK_AROUND, "tests/conftest.py": ""})
    found = await run(*args)
    assert found.all_passed
    ours = json.loads((project / "seen.json").read_text())
    assert not OURS - set(ours["environ"])
    sandbox_env = {
        name: value
        for name, value in ours["environ"].items()
        if name not in OURS and not name.startswith("PYTEST_XDIST")
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *args]
    await asyncio.to_thread(
        subprocess.run, command, cwd=project, env=sandbox_env, check=True, capture_output=True
    )
    plain = json.loads((project / "seen.json").read_text())
    assert ours["path"] == plain["path"]
    assert str(folder) in ours["path"]
    for seen in (ours, plain):
        for name in OURS | CHANGING:
            seen["environ"].pop(name, None)
    assert ours == plain


CASES = {
    "test_a.py": """
        def test_one():
            assert 1 == 2

        def test_two():
            assert 1 == 3

        def test_three():
            pass
        """
}
ALL_SEEN = {
    "test_a.py::test_one": "failed",
    "test_a.py::test_two": "failed",
    "test_a.py::test_three": "passed",
}


@pytest.mark.parametrize(
    "ini",
    [
        "addopts = -x",
        "addopts = --maxfail=1 -q -q --tb=no --no-header",
        "addopts = --stepwise",
        "addopts = --stepwise-reset",
        "addopts = --lf --color=yes --tb=line",
        "addopts = --strict-markers --strict-config --tb=native -l",
        "addopts = -p no:terminal",
        "addopts = -p no:cacheprovider --strict-config\nfilterwarnings = error",
        "addopts = -p no:faulthandler -p no:logging -s -vv --durations=3",
        "addopts = -p xdist -n 2 -x --dist=loadfile",
        "addopts = --pdb --import-mode=importlib",
        "cache_dir = somewhere\nconsole_output_style = classic",
    ],
)
async def test_every_case_is_seen_whatever_the_project_adds_to_the_command(make_project, run, ini):
    project = make_project({**CASES, "pytest.ini": f"[pytest]\n{ini}\n"})
    found = await run()
    assert found.problem == ""
    assert dict(found.cases) == ALL_SEEN
    assert "1 == 2" in found.failures[0].text
    assert "\x1b" not in found.failures[0].text
    left = sorted(path.name for path in project.iterdir())
    assert left == ["pytest.ini", "test_a.py"]


async def test_plugins_of_the_environment_stay_on(make_project, run):
    make_project({"test_a.py": "import asyncio\nasync def test_a():\n    await asyncio.sleep(0)\n"})
    found = await run("-o", "asyncio_mode=auto", plugins=True)
    assert found.cases == {"test_a.py::test_a": "passed"}


async def test_a_dead_worker_of_xdist_fails_its_test_only(make_project, run):
    make_project(
        {"test_a.py": "import os\ndef test_dies():\n    os._exit(1)\ndef test_lives():\n    pass\n"}
    )
    found = await run("-p", "xdist", "-n", "1")
    assert found.complete
    assert found.cases == {"test_a.py::test_dies": "failed", "test_a.py::test_lives": "passed"}


async def test_the_command_that_is_said_is_the_plain_one(make_project, run):
    make_project(CASES)
    found = await run("-q", targets=["test_a.py"])
    assert found.command == (sys.executable, "-m", "pytest", "-q", "test_a.py")
    assert found.to_report().command == found.command


async def test_a_file_edited_within_the_same_second_is_seen(make_project, run):
    project = make_project(
        {"calc.py": "A = 1\n", "test_a.py": "import calc\ndef test_a(): assert calc.A == 2\n"}
    )
    assert not (await run()).all_passed
    stamp = (project / "calc.py").stat().st_mtime_ns
    (project / "calc.py").write_text("A = 2\n")
    os.utime(project / "calc.py", ns=(stamp, stamp))
    assert (await run()).all_passed
    assert not list(Path(project).rglob("*.pyc"))
