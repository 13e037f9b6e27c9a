"""The core with no plugin installed still answers, and says clearly what is missing."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import CORE
from .test_wheels import needed, new_environment, wheel

__all__ = ["wheel"]

SITE = Path(__file__).parents[1] / "core" / "goal_loop" / "site"
"""A goal and a model that need nothing."""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory, wheel: Callable[..., Path]) -> Path:
    """The interpreter of an environment with the core and what it needs."""
    found = needed([CORE.name])
    third_party = [dist for name, dist in found.items() if name != CORE.name]
    return new_environment(tmp_path_factory.mktemp("core") / "env", [wheel(CORE)], third_party)


@pytest.fixture
def core(tmp_path: Path, python: Path):
    """Runs `python -m retrai_core` in an empty project."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("RETRAI_")}
    env |= {"RETRAI_STATE_DIR": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path)}
    project = tmp_path / "project"
    project.mkdir()

    def call(*args: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [python, "-m", "retrai_core", *args],
            capture_output=True,
            text=True,
            cwd=project,
            env=env | variables,
            timeout=60,
            check=False,
        )

    return call


def test_no_plugin_can_be_imported_here(python: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [python, "-c", "import retrai_sandbox_local"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode != 0


def test_help_works(core) -> None:
    done = core("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "run " in done.stdout


def test_plugins_list_shows_the_core_s_own_parts(core) -> None:
    done = core("plugins", "list", "--json")
    assert done.returncode == 0, done.stderr
    assert "goal-loop" in done.stdout
    assert {entry["dist"] for entry in plugin_entries(json.loads(done.stdout))} == {"retrai-core"}


def test_a_run_without_any_goal_says_so(core) -> None:
    done = core("run")
    assert done.returncode == 2
    assert "no goal is installed" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_goal_says_where_the_list_is(core) -> None:
    done = core("run", "pytest", "--model", "offline")
    assert done.returncode == 2
    assert "pytest" in done.stderr
    assert "retrai goals list" in done.stderr


def test_without_a_sandbox_it_says_what_to_install(core, tmp_path: Path) -> None:
    (tmp_path / "project" / "expected.txt").write_text("a.txt: right\n")
    for words in ((), ("--sandbox", "local")):
        done = core("run", "expected-text", "--model", "turns", *words, PYTHONPATH=str(SITE))
        assert done.returncode == 2, done.stdout + done.stderr
        assert "pip install retrai-sandbox-local" in done.stderr
        assert "Traceback" not in done.stderr


def plugin_entries(listed: object) -> list[dict[str, str]]:
    entries = listed["plugins"] if isinstance(listed, dict) else listed
    assert isinstance(entries, list)
    return entries
