"""A plugin that came with retrai is left out of a project's pytest, unless the project uses it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from retrai_goals_python.pytest.unrequested_plugins import disabling_arguments

TEST = "def test_one():\n    pass\n"
OUT = ["-p", "no:langsmith_plugin"]


def test_what_the_project_does_not_mention_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(TEST)
    assert disabling_arguments(sys.executable, tmp_path, ["-q"]) == OUT


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tests/test_one.py", f"import pytest\n\n@pytest.mark.langsmith\n{TEST}"),
        ("tests/unit/conftest.py", "from langsmith import testing\n"),
        ("pytest.ini", "[pytest]\naddopts = --langsmith-output\n"),
        ("requirements-dev.txt", "langsmith[pytest]\n"),
        ("../pyproject.toml", "[tool.pytest.ini_options]\nmarkers = ['langsmith: traced']\n"),
        ("../conftest.py", "pytest_plugins = ['langsmith.pytest_plugin']\n"),
    ],
)
def test_a_project_that_uses_it_keeps_it(tmp_path: Path, name: str, text: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text(text)
    assert disabling_arguments(sys.executable, project, []) == []


def test_an_argument_that_names_it_decides(tmp_path: Path) -> None:
    assert disabling_arguments(sys.executable, tmp_path, ["-p", "no:langsmith_plugin"]) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("PYTEST_ADDOPTS", "-q -p langsmith_plugin"), ("PYTEST_PLUGINS", "langsmith.pytest_plugin")],
)
def test_a_variable_of_pytests_that_asks_for_it_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    assert disabling_arguments(sys.executable, tmp_path, [], {name: value}) == []
    assert disabling_arguments(sys.executable, tmp_path, [], {"OTHER": value}) == OUT
    # The sandbox may pass on retrai's own.
    monkeypatch.setenv(name, value)
    assert disabling_arguments(sys.executable, tmp_path, []) == []
    assert disabling_arguments(sys.executable, tmp_path, [], {name: "-q"}) == OUT


async def test_pytest_gets_what_a_variable_asks_for(run, make_project) -> None:
    make_project({"test_one.py": ASKS.format(name="'lang' + 'smith'", loaded=True)})
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p langsmith_plugin"}
    result = await run(env=env)
    assert dict(result.cases) == {"test_one.py::test_one": "passed"}, result.output_tail


def test_in_another_environment_nothing_is_left_out(tmp_path: Path) -> None:
    assert disabling_arguments(str(tmp_path / "bin" / "python"), tmp_path, []) == []


ASKS = """
def test_one(request):
    name = {name} + "_plugin"
    assert request.config.pluginmanager.hasplugin(name) is {loaded}
"""


@pytest.mark.parametrize(("name", "loaded"), [("'langsmith'", True), ("'lang' + 'smith'", False)])
async def test_pytest_loads_it_only_where_it_is_used(
    run, make_project, name: str, loaded: bool
) -> None:
    make_project({"test_one.py": ASKS.format(name=name, loaded=loaded)})
    result = await run(plugins=True)
    assert dict(result.cases) == {"test_one.py::test_one": "passed"}, result.output_tail
