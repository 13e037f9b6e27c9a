"""`retrai init` writes a file that `retrai run` accepts, and never over another."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrai_core.settings import PROJECT_FILE, load_settings


@pytest.fixture
def python_project(project: Path) -> Path:
    (project / "pytest.ini").write_text("[pytest]\n")
    return project


def test_the_detected_goal_is_written_without_asking(retrai, python_project: Path) -> None:
    code, out, _ = retrai("init", "-C", python_project)
    assert code == 0
    assert "pytest.ini" in out
    assert load_settings(python_project).config.goal == "pytest"


def test_what_it_writes_says_nothing_but_defaults(retrai, python_project: Path) -> None:
    retrai("init", "-C", python_project)
    written, plain = (
        load_settings(python_project).config,
        load_settings(python_project.parent).config,
    )
    assert (
        written.model_copy(update={"goal": None, "cwd": plain.cwd, "run_id": plain.run_id}) == plain
    )


def test_a_named_model_is_written(retrai, python_project: Path) -> None:
    retrai("init", "-C", python_project, "--goal", "pytest", "-m", "offline")
    assert load_settings(python_project).config.model_name == "offline"


def test_an_existing_file_is_kept(retrai, python_project: Path) -> None:
    (python_project / PROJECT_FILE).write_text("goal: pytest\nmax_iterations: 3\n")
    code, _, err = retrai("init", "-C", python_project)
    assert code == 2
    assert "--force" in err
    assert load_settings(python_project).config.max_iterations == 3


def test_force_writes_over_it(retrai, python_project: Path) -> None:
    (python_project / PROJECT_FILE).write_text("max_iterations: 3\n")
    assert retrai("init", "-C", python_project, "--force")[0] == 0
    assert load_settings(python_project).config.max_iterations == 50


def test_an_unknown_goal_is_not_written(retrai, python_project: Path) -> None:
    code, _, err = retrai("init", "-C", python_project, "--goal", "pytset")
    assert code == 2
    assert "pytset" in err
    assert "pytest" in err
    assert not (python_project / PROJECT_FILE).exists()


def test_a_project_that_nothing_fits_gets_no_file(retrai, project: Path) -> None:
    assert retrai("init", "-C", project)[0] == 2
    assert not (project / PROJECT_FILE).exists()
