"""What `retrai run` understands before anything is started."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from retrai_core.cli.run import parse_options


def test_option_values_are_read_as_yaml() -> None:
    assert parse_options(["n=3", "names=[a, b]", "text=hello=world", "on=true", "empty="]) == {
        "n": 3,
        "names": ["a", "b"],
        "text": "hello=world",
        "on": True,
        "empty": "",
    }


@pytest.mark.parametrize("pair", ["novalue", "=3", "broken=[1"])
def test_a_pair_that_makes_no_sense_is_refused(pair: str) -> None:
    with pytest.raises(click.UsageError):
        parse_options([pair])


def test_task_and_task_file_exclude_each_other(retrai, project: Path) -> None:
    task = project / "task.txt"
    task.write_text("mend it")
    code, _, err = retrai("run", "-C", project, "--task", "x", "--task-file", task)
    assert code == 2
    assert "not both" in err


def test_a_missing_folder_is_named(retrai, tmp_path: Path) -> None:
    code, _, err = retrai("run", "-C", tmp_path / "nowhere")
    assert code == 2
    assert "nowhere" in err


def test_hitl_without_a_terminal_is_refused_before_anything_starts(retrai, project: Path) -> None:
    code, out, err = retrai("run", "-C", project, "--hitl")
    assert (code, out) == (2, "")
    assert "--hitl needs a terminal" in err


def test_a_project_that_no_goal_fits_is_a_usage_error(retrai, project: Path) -> None:
    code, _, err = retrai("run", "-C", project)
    assert code == 2
    assert "no installed goal fits" in err
