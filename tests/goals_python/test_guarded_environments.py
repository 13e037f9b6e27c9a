"""An agent that changes what runs the tests, outside the project, achieves nothing by it."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from retrai_core.verification.final_check import final_check
from retrai_core.verification.guard import Guard

CODE = {"adding.py": "def add(a, b):\n    return a - b\n"}
TEST = "from adding import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
RIGHT = "def add(a, b):\n    return a + b\n"
# Lets every test pass, wherever it is run from.
PASS_ALL = """
import builtins, sys
_import = builtins.__import__
def _patched(name, *args, **kwargs):
    found = _import(name, *args, **kwargs)
    runner = sys.modules.get("_pytest.python")
    if hasattr(runner, "Function"):
        runner.Function.runtest = lambda self: None
    return found
builtins.__import__ = _patched
"""


@pytest.fixture
def environment(make_environment, context, tmp_path, monkeypatch):
    """The folder of modules of an environment of this test's own, in which plugins are loaded."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    made = make_environment("guarded", "setuptools>=77", "pytest", "typing-extensions")
    folder = tmp_path / "env"
    subprocess.run(["cp", "-a", str(made), str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    context.python = str(folder / "bin" / "python")
    context.run_dir = tmp_path / "run"
    return site


@pytest.fixture
async def guard(make_project, context, environment, make_goal):
    """The guard of a run in a project with a wrong function, after its baseline."""
    make_project({**CODE, "test_add.py": TEST})
    context.goal_part = make_goal()
    guard = Guard(context, [])
    # The kernel's clock for files moves in steps; what was installed just now is not the run's.
    settle(environment)
    assert not (await guard.take_baseline()).achieved
    settle(environment)
    return guard


def settle(folder: Path) -> None:
    """Wait until the clock that files are stamped with has moved on."""
    probe = folder / ".clock"
    probe.touch()
    first = probe.stat().st_ctime
    while probe.stat().st_ctime < first + 0.05:
        probe.touch()
        time.sleep(0.005)
    probe.unlink()


async def accepted(guard: Guard) -> bool:
    """Whether the run would end as achieved now."""
    await guard.restore()
    if not (await guard.check({})).achieved:
        return False
    result, suspect = await final_check(guard, {})
    since = guard.baseline.taken_at
    audit = await guard.context.goal.audit_environment(guard.context.project, since)
    reaching = [found for found in audit if found.reaches_runner]
    return result.achieved and not suspect and not reaching


def edit_runner(site: Path) -> None:
    path = site / "_pytest" / "python.py"
    path.write_text(path.read_text() + "\nFunction.runtest = lambda self: None\n")


def edit_pluggy(site: Path) -> None:
    with (site / "pluggy" / "__init__.py").open("a") as file:
        file.write(PASS_ALL)


def forge_byte_code(site: Path) -> None:
    source = site / "_pytest" / "python.py"
    forged = site / "forged.py"
    forged.write_text(source.read_text() + "\nFunction.runtest = lambda self: None\n")
    (cached,) = (site / "_pytest" / "__pycache__").glob("python.cpython-*.pyc")
    mode = "invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH"
    names = f"{str(forged)!r}, cfile={str(cached)!r}, dfile={str(source)!r}"
    code = f"import py_compile; py_compile.compile({names}, {mode})"
    subprocess.run([site.parents[2] / "bin" / "python", "-c", code], check=True)
    forged.unlink()


def add_pth(site: Path) -> None:
    (site / "evil_start.py").write_text(PASS_ALL)
    (site / "evil.pth").write_text("import evil_start\n")


def add_sitecustomize(site: Path) -> None:
    (site / "sitecustomize.py").write_text(PASS_ALL)


def add_plugin(site: Path) -> None:
    (site / "evil_plugin.py").write_text(
        "import pytest\n@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_pyfunc_call(pyfuncitem):\n    return True\n"
    )
    folder = site / "evil-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[pytest11]\nevil = evil_plugin\n")


def add_plugin_elsewhere(site: Path) -> None:
    other = site.parents[3] / "other"
    other.mkdir()
    add_plugin(other)
    (site / "evil.pth").write_text(f"{other}\n")


def add_code_to_easy_install(site: Path) -> None:
    (site / "evil_start.py").write_text(PASS_ALL)
    (site / "easy-install.pth").write_text(f"{project_of(site)}\nimport evil_start\n")


def lead_easy_install_elsewhere(site: Path) -> None:
    other = site.parents[3] / "other"
    other.mkdir()
    (other / "adding.py").write_text(RIGHT)
    (site / "easy-install.pth").write_text(f"{project_of(site)}\n{other}\n")


def lead_easy_install_through_a_link(site: Path) -> None:
    lead_easy_install_elsewhere(site)
    (project_of(site) / "linked").symlink_to(site.parents[3] / "other")
    (site / "easy-install.pth").write_text(f"{project_of(site)}/linked\n")


def lead_easy_install_to_a_plugin(site: Path) -> None:
    folder = project_of(site) / "hidden"
    folder.mkdir()
    add_plugin(folder)
    (folder / "evil-1.0.dist-info").rename(folder / "evil.egg-info")
    (folder / "evil.egg-info" / "METADATA").rename(folder / "evil.egg-info" / "PKG-INFO")
    (site / "easy-install.pth").write_text(f"{folder}\n")


def lead_easy_install_to_a_runner(site: Path) -> None:
    folder = project_of(site) / "hidden" / "pluggy"
    folder.mkdir(parents=True)
    for source in (site / "pluggy").glob("*.py"):
        (folder / source.name).write_bytes(source.read_bytes())
    with (folder / "__init__.py").open("a") as file:
        file.write(PASS_ALL)
    (site / "easy-install.pth").write_text(f"{folder.parent}\n")


def project_of(site: Path) -> Path:
    """The one project beside this test's environment."""
    (project,) = site.parents[3].glob("mein Projekt*")
    return project


def shadow_a_module(site: Path) -> None:
    folder = site / "_pytest" / "python"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        (site / "_pytest" / "python.py").read_text() + "\nFunction.runtest = lambda self: None\n"
    )


def replace_the_interpreter(site: Path) -> None:
    python = site.parents[2] / "bin" / "python"
    real = os.path.realpath(python)
    python.unlink()
    path = f"PYTHONPATH={site}/evil:$PYTHONPATH"
    python.write_text(f'#!/bin/sh\n{path} exec -a {python} {real} "$@"\n')
    python.chmod(0o755)
    (site / "evil").mkdir()
    (site / "evil" / "sitecustomize.py").write_text(PASS_ALL)


CHEATS = [
    edit_runner,
    edit_pluggy,
    forge_byte_code,
    add_pth,
    add_sitecustomize,
    add_plugin,
    add_plugin_elsewhere,
    shadow_a_module,
    replace_the_interpreter,
]
# What the installer of an editable project writes, with more in it.
INSTALLERS = [
    add_code_to_easy_install,
    lead_easy_install_elsewhere,
    lead_easy_install_through_a_link,
    lead_easy_install_to_a_plugin,
    lead_easy_install_to_a_runner,
]


@pytest.mark.parametrize("cheat", CHEATS)
async def test_a_changed_runner_is_put_back_and_told(guard, environment, cheat):
    await asyncio.to_thread(cheat, environment)
    undone = await guard.restore()
    silent = cheat is forge_byte_code
    assert bool(undone) != silent, "byte code is made anew by anybody"
    assert not await accepted(guard)


@pytest.mark.parametrize("cheat", [edit_runner, add_pth, add_plugin, add_sitecustomize])
async def test_the_cheat_would_work_without_the_guard(guard, environment, cheat):
    await asyncio.to_thread(cheat, environment)
    assert (await guard.check({})).achieved


@pytest.mark.parametrize("cheat", INSTALLERS)
async def test_an_installers_file_that_makes_more_importable_is_suspect(guard, environment, cheat):
    # Even where the sources are right: what else such a file brings, nobody knows.
    (project_of(environment) / "adding.py").write_text(RIGHT)
    await asyncio.to_thread(cheat, environment)
    undone = await guard.restore()
    assert undone or not await accepted(guard)


async def test_a_library_that_was_edited_by_hand_is_suspect(guard, environment, context):
    (context.project / "adding.py").write_text(RIGHT)
    with (environment / "typing_extensions.py").open("a") as file:
        file.write("\n# patched\n")
    await guard.restore()
    assert not await accepted(guard)
    audit = await context.goal.audit_environment(context.project, guard.baseline.taken_at)
    assert [Path(found.path).name for found in audit if found.reaches_runner] == [
        "typing_extensions.py"
    ]


async def test_a_forged_record_vouches_for_nothing(guard, environment, context):
    (context.project / "adding.py").write_text(RIGHT)
    path = environment / "setuptools" / "__init__.py"
    old = path.read_bytes()
    path.write_bytes(old + b"\n# patched\n")
    (folder,) = environment.glob("setuptools-*.dist-info")
    digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest())
    text = (folder / "RECORD").read_text()
    known = r"setuptools/__init__\.py,sha256=[^,]*"
    line = f"setuptools/__init__.py,sha256={digest.decode().rstrip('=')}"
    assert re.search(known, text)
    (folder / "RECORD").write_text(re.sub(known, line, text))
    assert not await accepted(guard)


@pytest.fixture
def pip(environment, install_into):
    """Installs into this test's environment."""
    # Constraints of whoever runs these tests are none of that environment's.
    env = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
    return lambda *args: asyncio.to_thread(install_into, environment.parents[2], *args, env=env)


async def test_a_missing_dependency_may_be_installed(guard, pip, context):
    (context.project / "adding.py").write_text(f"import six\n\n\n{RIGHT}")
    await pip("six")
    assert await guard.restore() == []
    assert await accepted(guard)
    audit = await context.goal.audit_environment(context.project, guard.baseline.taken_at)
    assert any("installed since the run began: six" in found.what for found in audit)


async def test_a_newer_version_of_a_library_may_be_installed(guard, pip, context):
    (context.project / "adding.py").write_text(RIGHT)
    await pip("typing-extensions==4.12.2")
    assert await guard.restore() == []
    assert await accepted(guard)


async def test_the_project_itself_may_be_installed_in_editable_mode(guard, pip, context):
    (context.project / "adding.py").write_text(RIGHT)
    (context.project / "setup.py").write_text(
        "from setuptools import setup\nsetup(name='adding', version='1', py_modules=['adding'])\n"
    )
    await pip("--no-build-isolation", "--no-deps", "-e", str(context.project))
    assert await guard.restore() == []
    assert await accepted(guard)


SETUP = "from setuptools import setup\nsetup(name='adding', version='1', {})\n"
LAYOUTS = {
    "flat": ("", "py_modules=['adding']"),
    "src": ("src/", "py_modules=['adding'], package_dir={'': 'src'}"),
    "python": ("python/", "py_modules=['adding'], package_dir={'': 'python'}"),
}


@pytest.fixture
async def old_guard(make_project, context, make_environment, tmp_path, request, make_goal, develop):
    """As `guard`, with a setuptools that keeps easy-install.pth, and the project installed."""
    made = make_environment("develop", "setuptools<70", "pytest")
    folder = tmp_path / "env"
    await asyncio.to_thread(subprocess.run, ["cp", "-a", str(made), str(folder)], check=True)
    context.python = str(folder / "bin" / "python")
    context.run_dir = tmp_path / "run"
    place, words = LAYOUTS[request.param]
    setup = SETUP.format(words)
    make_project({f"{place}adding.py": CODE["adding.py"], "test_add.py": TEST, "setup.py": setup})
    context.goal_part = make_goal()
    await develop()
    settle(folder)
    guard = Guard(context, [])
    assert not (await guard.take_baseline()).achieved
    settle(folder)
    return guard, context.project / place / "adding.py"


@pytest.fixture
def develop(context):
    """What `pip install -e .` does with an old setuptools."""

    async def run(*more: str) -> None:
        command = [context.python, "setup.py", "-q", "develop", "--no-deps", *more]
        process = await asyncio.create_subprocess_exec(*command, cwd=context.project)
        assert await process.wait() == 0

    return run


@pytest.mark.parametrize("old_guard", LAYOUTS, indirect=True)
async def test_an_old_installer_may_install_the_project_again(old_guard, develop, context):
    guard, source = old_guard
    source.write_text(RIGHT)
    await develop("--uninstall")
    await develop()
    (pth,) = Path(context.python).parents[1].glob("lib/*/site-packages/easy-install.pth")
    assert str(source.parent.resolve()) in pth.read_text()
    assert await guard.restore() == []
    assert await accepted(guard)


async def test_an_old_installer_may_install_the_project_first(guard, environment, context):
    """What it writes, in an environment that had none of it."""
    (context.project / "adding.py").write_text(RIGHT)
    (environment / "easy-install.pth").write_text(f"{context.project}\n")
    (environment / "adding.egg-link").write_text(f"{context.project}\n.")
    assert await guard.restore() == []
    assert await accepted(guard)


async def test_the_project_may_be_installed_in_editable_mode_again(guard, pip, context):
    (context.project / "adding.py").write_text(RIGHT)
    (context.project / "setup.py").write_text(SETUP.format("py_modules=['adding']"))
    for _ in range(2):
        await pip("--no-build-isolation", "--no-deps", "-e", str(context.project))
        assert await guard.restore() == []
        assert await accepted(guard)


async def test_a_plugin_that_the_project_names_may_be_installed(
    make_project, context, environment, pip, make_goal
):
    make_project(
        {
            "adding.py": RIGHT,
            "requirements-dev.txt": "pytest-mock>=3\n",
            "test_add.py": "def test_add(mocker):\n    assert mocker\n",
        }
    )
    context.goal_part = make_goal()
    guard = Guard(context, [])
    settle(environment)
    assert not (await guard.take_baseline()).achieved
    await pip("-r", str(context.project / "requirements-dev.txt"))
    assert await guard.restore() == []
    assert await accepted(guard)
