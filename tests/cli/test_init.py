"""`retrai init` writes a file that `retrai run` accepts, and never over another."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from retrai_core.config.sources import PROJECT_FILE, load_settings


@pytest.fixture
def asking_project(toy, project: Path) -> Path:
    """A project that the toy goal fits, with no settings."""
    (project / PROJECT_FILE).unlink()
    return project


def test_the_detected_goal_is_written_without_asking(retrai, asking_project: Path) -> None:
    code, out, _ = retrai("init", "-C", asking_project)
    assert code == 0
    assert "question.txt" in out
    assert load_settings(asking_project).config.goal == "answer"


def test_what_it_writes_says_nothing_but_defaults(retrai, asking_project: Path) -> None:
    retrai("init", "-C", asking_project)
    written, plain = (
        load_settings(asking_project).config,
        load_settings(asking_project.parent).config,
    )
    assert (
        written.model_copy(update={"goal": None, "cwd": plain.cwd, "run_id": plain.run_id}) == plain
    )


def test_a_named_model_is_written(retrai, asking_project: Path) -> None:
    retrai("init", "-C", asking_project, "--goal", "answer", "-m", "offline")
    assert load_settings(asking_project).config.model_name == "offline"


def test_a_model_that_nobody_serves_is_not_written(retrai, asking_project: Path) -> None:
    pytest.importorskip("retrai_llm_litellm")
    code, _, err = retrai("init", "-C", asking_project, "--goal", "answer", "-m", "ofline")
    assert code == 2
    assert "did you mean offline?" in err
    assert not (asking_project / PROJECT_FILE).exists()


def test_a_model_that_is_switched_off_is_not_written(
    retrai, asking_project: Path, own_folders: Path
) -> None:
    pytest.importorskip("retrai_llm_offline")
    user = own_folders / "config" / "retrai" / "config.yml"
    user.parent.mkdir(parents=True)
    user.write_text("disabled_plugins: [offline]\n")
    code, _, _ = retrai("init", "-C", asking_project, "--goal", "answer", "-m", "offline")
    assert code == 2
    assert not (asking_project / PROJECT_FILE).exists()


def test_a_model_whose_key_is_still_to_come_is_written_and_told(
    retrai, asking_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("retrai_llm_litellm")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    code, _, err = retrai("init", "-C", asking_project, "--goal", "answer", "-m", "openai/gpt-4o")
    assert code == 0
    assert "OPENAI_API_KEY" in err
    assert load_settings(asking_project).config.model_name == "openai/gpt-4o"


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, who may make another user's files")
def test_as_root_the_file_belongs_to_the_project_s_owner(retrai, asking_project: Path) -> None:
    os.chown(asking_project, 1234, 2345)
    assert retrai("init", "-C", asking_project)[0] == 0
    written = (asking_project / PROJECT_FILE).stat()
    assert (written.st_uid, written.st_gid) == (1234, 2345)


def test_an_existing_file_is_kept(retrai, asking_project: Path) -> None:
    (asking_project / PROJECT_FILE).write_text("goal: answer\nmax_iterations: 3\n")
    code, _, err = retrai("init", "-C", asking_project)
    assert code == 2
    assert "--force" in err
    assert load_settings(asking_project).config.max_iterations == 3


def test_force_writes_over_it_and_keeps_its_settings(retrai, asking_project: Path) -> None:
    (asking_project / PROJECT_FILE).write_text("max_iterations: 3\n")
    assert retrai("init", "-C", asking_project, "--force")[0] == 0
    assert load_settings(asking_project).config.max_iterations == 3


def test_force_leaves_the_options_of_another_goal_out(retrai, asking_project: Path) -> None:
    (asking_project / PROJECT_FILE).write_text("goal: answer\nmax_cost: 2\npatience_s: 2\n")
    assert retrai("init", "-C", asking_project, "--force", "--goal", "poem")[0] == 0
    text = (asking_project / PROJECT_FILE).read_text()
    assert "goal: poem\n" in text
    assert "max_cost: 2.0\n" in text
    assert "patience_s" not in text


def test_an_unknown_goal_is_not_written(retrai, asking_project: Path) -> None:
    code, _, err = retrai("init", "-C", asking_project, "--goal", "answr")
    assert code == 2
    assert "answr" in err
    assert "answer" in err
    assert not (asking_project / PROJECT_FILE).exists()


def test_a_project_that_nothing_fits_gets_no_file(retrai, project: Path) -> None:
    assert retrai("init", "-C", project)[0] == 2
    assert not (project / PROJECT_FILE).exists()


@pytest.mark.parametrize("arguments", [["init"], ["init", "--force"], ["run"], ["config", "show"]])
def test_a_folder_where_the_file_belongs_is_said_with_what_moves_it_away(
    retrai, asking_project: Path, arguments: list[str]
) -> None:
    path = asking_project / PROJECT_FILE
    path.mkdir()
    code, _, err = retrai(*arguments, "-C", asking_project)
    error, hint = err.splitlines()
    assert code == 2
    assert error == f"error: {path} cannot be read: it is a folder, and should be a file"
    assert f"`mv {path} {path}.folder`" in hint


def test_a_file_that_cannot_be_written_is_said_in_one_line(retrai, asking_project: Path) -> None:
    # A link into a folder that is not there cannot be written through, not even by root.
    path = asking_project / PROJECT_FILE
    path.symlink_to(asking_project / "missing" / "settings.yml")
    code, _, err = retrai("init", "-C", asking_project)
    assert code == 2
    assert err.splitlines()[0] == f"error: {path} cannot be written: No such file or directory"
    assert err.splitlines()[1:] == [
        "hint: no file is needed: `retrai run answer` takes the same settings as flags"
    ]
