"""Of a project that is installed in editable mode, or that PYTHONPATH names, the clean copy is
tested and nothing else."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from retrai_core.verification.final_check import final_check
from retrai_core.verification.guard import Guard

TEST = "from thing import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
WRONG, RIGHT = "def add(a, b):\n    return a - b\n", "def add(a, b):\n    return a + b\n"
BUILD = '[build-system]\nrequires = ["setuptools>=77"]\nbuild-backend = "setuptools.build_meta"\n'
PROJECT = BUILD + '[project]\nname = "thing"\nversion = "1"\n'
FORGED = """
import py_compile, sys
py_compile.compile({right!r}, cfile={cached!r}, dfile={source!r},
                   invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
"""
# No folder on the import path could say this: setuptools makes a finder with a table of packages.
TABLE = """
[tool.setuptools]
packages = ["thing"]
[tool.setuptools.package-dir]
thing = "lib/inner"
"""
# By name: where the package lies, and what the build is told of it.
LAYOUTS = {
    "flat": ("thing", ""),
    "src": ("src/thing", ""),
    "finder": ("lib/inner", TABLE),
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, make_environment) -> Path:
    """A virtual environment with what builds a project, for this module; its interpreter."""
    made = make_environment("editable", "setuptools>=77", "pytest", "pytest-xdist")
    folder = tmp_path_factory.mktemp("editable") / "env"
    subprocess.run(["cp", "-a", str(made), str(folder)], check=True)
    return folder / "bin" / "python"


@pytest.fixture
async def installed(make_project, context, environment, install_into, tmp_path, request):
    """A project with a wrong function, installed in editable mode; its source file."""
    place, more = LAYOUTS[request.param]
    files = {"tests/test_add.py": TEST, f"{place}/__init__.py": WRONG}
    project = make_project({**files, "pyproject.toml": PROJECT + more})
    words = ["--no-build-isolation", "--no-deps", "-e", str(project)]
    await asyncio.to_thread(install_into, environment.parents[1], *words)
    context.python = str(environment)
    context.run_dir = tmp_path / "run"
    return project / place / "__init__.py"


def forge(python: Path, source: Path) -> None:
    """Byte code of the right source beside the wrong one, which Python believes unseen."""
    right = source.parents[2] / "right.py"
    right.write_text(RIGHT)
    tag = subprocess.run(
        [python, "-c", "import sys; print(sys.implementation.cache_tag)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    cached = source.parent / "__pycache__" / f"__init__.{tag}.pyc"
    code = FORGED.format(right=str(right), cached=str(cached), source=str(source))
    subprocess.run([python, "-c", code], check=True)


@pytest.mark.parametrize("installed", LAYOUTS, indirect=True)
async def test_what_lies_only_in_the_original_tree_achieves_nothing(
    installed, context, environment, make_goal
):
    context.goal_part = make_goal()
    guard = Guard(context, [])
    assert not (await guard.take_baseline()).achieved
    await asyncio.to_thread(forge, environment, installed)
    in_place = await guard.check({})
    assert in_place.achieved, "the cheat works where the project stands"
    result, _ = await final_check(guard, {})
    assert not result.achieved
    assert "1 of 1 test fails" in result.reason


@pytest.mark.parametrize("arguments", ["", "-n 1"], ids=["plain", "xdist"])
@pytest.mark.parametrize("installed", LAYOUTS, indirect=True)
async def test_a_mended_project_is_verified_on_its_copy(installed, context, make_goal, arguments):
    context.goal_part = make_goal(args=f"-p xdist {arguments}")
    guard = Guard(context, [])
    await guard.take_baseline()
    installed.write_text(RIGHT)
    result, suspect = await final_check(guard, {})
    assert (result.achieved, suspect) == (True, "")
    assert result.report is not None
    assert result.report.imported_from
    assert not any(path.startswith(str(context.project)) for path in result.report.imported_from)


@pytest.mark.parametrize("installed", ["src"], indirect=True)
async def test_child_processes_of_the_tests_import_the_copy_too(installed, context, make_goal):
    (context.project / "tests" / "test_child.py").write_text(
        "import subprocess, sys\n\n\ndef test_child():\n"
        "    code = 'import thing; print(thing.__file__)'\n"
        "    found = subprocess.check_output([sys.executable, '-c', code], text=True)\n"
        "    assert 'retrai-final-' not in found, found\n"
    )
    context.goal_part = make_goal()
    guard = Guard(context, [])
    await guard.take_baseline()
    installed.write_text(RIGHT)
    assert (await guard.check({})).achieved
    result, _ = await final_check(guard, {})
    assert "1 of 2 tests fails" in result.reason


@pytest.mark.parametrize("installed", ["src"], indirect=True)
async def test_code_that_is_still_loaded_from_the_original_fails_the_verification(
    installed, context, environment, make_goal
):
    context.goal_part = make_goal()
    guard = Guard(context, [])
    await guard.take_baseline()
    installed.write_text(RIGHT)
    # Imported at the interpreter's start, by its path: no folder on the import path says so.
    early = Path(environment).parents[1] / "lib"
    (site,) = early.glob("python*/site-packages")
    code = "import importlib.util as u, sys; s = u.spec_from_file_location('early', {!r})"
    line = code.format(str(installed)) + "; m = u.module_from_spec(s); s.loader.exec_module(m)"
    (site / "zz_early.pth").write_text(line + "; sys.modules['early'] = m\n")
    try:
        result, _ = await final_check(guard, {})
    finally:
        (site / "zz_early.pth").unlink()
    assert not result.achieved
    assert "src/thing/__init__.py was still imported from the project itself" in result.reason


@pytest.mark.parametrize("arguments", ["", "-p xdist -n 1"], ids=["plain", "xdist"])
@pytest.mark.parametrize("named", ["src", "{project}/src"], ids=["relative", "absolute"])
async def test_sources_that_pythonpath_names_are_verified_on_the_copy(
    make_project, context, make_goal, monkeypatch, tmp_path, named, arguments
):
    files = {"tests/__init__.py": "", "tests/test_add.py": TEST, "src/thing/__init__.py": WRONG}
    project = make_project(files)
    monkeypatch.setenv("PYTHONPATH", named.format(project=project))
    context.run_dir = tmp_path / "run"
    context.goal_part = make_goal(args=arguments)
    guard = Guard(context, [])
    assert "1 of 1 test fails" in (await guard.take_baseline()).reason
    (project / "src" / "thing" / "__init__.py").write_text(RIGHT)
    result, suspect = await final_check(guard, {})
    assert (result.achieved, suspect) == (True, "")
    assert result.report is not None
    assert not any(path.startswith(str(project)) for path in result.report.imported_from)
