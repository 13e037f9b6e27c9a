"""`retrai run` from the user's side: what it prints, where it keeps the record, how it ends."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .kept import kept_runs

RIGHT = ("write_answer", {"text": "42"})
WRONG = ("write_answer", {"text": "54"})


def test_a_run_shows_each_step_and_ends_achieved(retrai, toy, project: Path) -> None:
    code, out, _ = retrai(*toy([WRONG], [RIGHT]))
    assert code == 0, out
    assert (project / "answer.txt").read_text() == "42"
    steps = [line.split()[:2] for line in out.splitlines() if "write_answer" in line.split()[:2]]
    assert steps == [["1", "write_answer"], ["2", "write_answer"]]
    assert "goal answer, found by question.txt" in out
    (record,) = kept_runs()
    assert f"run {record.id}: answer with script:" in out.splitlines()[0]
    assert "achieved: it says 42" in out
    assert "2 iterations" in out
    assert "\x1b" not in out


def test_the_goal_may_be_named_and_its_options_given(retrai, toy, project: Path) -> None:
    code, out, _ = retrai(*toy([WRONG]), "answer", "--option", "wanted='54'")
    assert code == 0, out
    assert "found by" not in out


def test_a_project_that_passes_already_needs_no_model(retrai, toy, project: Path) -> None:
    (project / "answer.txt").write_text("42")
    code, out, _ = retrai(*toy([WRONG]))
    assert code == 0
    assert "nothing had to be done" in out
    assert "write_answer" not in out
    assert (project / "answer.txt").read_text() == "42"


def test_used_up_iterations_are_exit_code_1_and_say_what_to_do_next(retrai, toy) -> None:
    code, out, _ = retrai(*toy([WRONG], [WRONG], [WRONG]), "-n", "1")
    assert code == 1
    assert "failed: 1 iteration used up" in out
    assert "retrai runs resume" in out


def test_json_is_the_record_alone(retrai, toy) -> None:
    code, out, err = retrai(*toy([RIGHT]), "--json")
    record = json.loads(out)
    assert (code, record["status"], record["exit_code"]) == (0, "achieved", 0)
    assert record["goals"][0]["after"]["counts"] == {"passed": 1}
    assert record["tokens"]["total"] > 0
    assert "write_answer" in err


def test_a_task_goes_into_the_record(retrai, toy, tmp_path: Path) -> None:
    task = tmp_path / "issue.txt"
    task.write_text("It should say 42.")
    retrai(*toy([RIGHT]), "--task-file", task)
    (record,) = kept_runs()
    assert record.task == "It should say 42."


@pytest.mark.parametrize(
    ("wrong", "named", "nearest"),
    [
        (["answr"], "answr", "answer"),
        (["answer", "-m", "scrypt"], "scrypt", "hint:"),
        (["answer", "--option", "wnated=1"], "wnated", "wanted"),
        (["answer", "-n", "0"], "max_iterations", "must be 1 or more"),
        (["answer", "--max-tokens", "many"], "max_tokens", "must be a whole number"),
    ],
)
def test_what_nobody_knows_is_one_line_with_the_nearest_name(
    retrai, toy, project: Path, wrong: list[str], named: str, nearest: str
) -> None:
    code, out, err = retrai(*toy([RIGHT])[:3], *wrong)
    assert (code, out) == (2, "")
    assert named in err.splitlines()[0]
    assert nearest in err
    assert kept_runs() == []


def test_an_unknown_setting_names_the_nearest_one(retrai, toy, project: Path) -> None:
    (project / ".retrai.yml").write_text("max_iteration: 3\n")
    code, _, err = retrai(*toy([RIGHT]))
    assert code == 2
    assert "max_iteration" in err
    assert "max_iterations" in err


def test_an_unknown_tool_names_the_nearest_one(retrai, toy, project: Path) -> None:
    (project / ".retrai.yml").write_text("tools: [write_anwser]\n")
    code, _, err = retrai(*toy([RIGHT]))
    assert code == 2
    assert "write_anwser" in err
    assert "write_answer" in err


def test_a_frontend_of_a_plugin_is_a_command(retrai, toy) -> None:
    assert "greet" in retrai("--help")[1]
    assert retrai("greet") == (0, "hello\n", "")
    assert "greet" not in retrai("--no-plugins", "--help")[1]


def test_what_no_plugins_leaves_out_names_the_flag(retrai, toy) -> None:
    code, _, err = retrai("--no-plugins", *toy([RIGHT]))
    assert (code, "switched off by --no-plugins" in err, "RETRAI_PLUGINS" in err) == (
        2,
        True,
        False,
    )
    code, _, err = retrai("--no-plugins", "run", "answer")
    assert (code, "switched off by --no-plugins" in err, "RETRAI_PLUGINS" in err) == (
        2,
        True,
        False,
    )


def test_a_tool_that_is_left_out_is_not_there_for_the_model(retrai, toy) -> None:
    code, out, _ = retrai(*toy([("shell", {"line": "true"})]), "-n", "1", "--no-tools", "shell")
    assert code == 1
    assert "no tool 'shell'" in out
    (tools,) = re.findall(r"the tools: (.*)", out)
    assert "report_impossible" in tools
    assert "shell" not in tools


def test_named_tools_take_the_place_of_the_goals_set(retrai, toy) -> None:
    code, out, _ = retrai(*toy([RIGHT]), "-n", "1", "--tools", "shell, report_impossible")
    assert code == 1
    assert "the tools: report_impossible, shell" in out


@pytest.mark.parametrize("flag", ["--tools", "--no-tools"])
def test_a_tool_that_nobody_knows_is_a_usage_error_with_the_nearest(retrai, toy, flag) -> None:
    code, out, err = retrai(*toy([RIGHT]), flag, "write_anwser")
    assert (code, out) == (2, "")
    assert "did you mean `write_answer`?" in err


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_state_folder_that_cannot_be_written_to_is_said_with_what_takes_another(
    retrai, toy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, below: str
) -> None:
    (tmp_path / "file").write_text("no folder")
    state = tmp_path / "file" / below
    monkeypatch.setenv("RETRAI_STATE_DIR", str(state))
    code, _, err = retrai(*toy([RIGHT]))
    error, hint = err.splitlines()
    assert code == 70
    assert error.startswith(f"error: nothing can be kept in the state folder {state}: ")
    assert "RETRAI_STATE_DIR=FOLDER" in hint


def test_a_lock_that_cannot_be_made_is_said_in_the_same_way(retrai, toy, tmp_path: Path) -> None:
    retrai(*toy([WRONG]), "-n", "1")
    (record,) = kept_runs()
    locks = tmp_path / "state" / "locks"
    locks.rename(tmp_path / "old locks")
    locks.write_text("no folder")
    code, _, err = retrai("runs", "resume", record.id, "-n", "2")
    error, _ = err.splitlines()
    state = tmp_path / "state"
    assert code == 70
    assert error.startswith(f"error: nothing can be kept in the state folder {state}: ")
    assert error.endswith(f"({locks})")


def test_an_agreement_that_cannot_be_kept_is_said_before_anything_is_run(
    retrai, toy, monkeypatch: pytest.MonkeyPatch, project: Path, tmp_path: Path
) -> None:
    arguments = toy([RIGHT])
    (project / ".retrai.yml").write_text("python: ./python\n")
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("RETRAI_STATE_DIR", str(tmp_path / "file"))
    monkeypatch.delenv("RETRAI_TRUST")
    code, _, err = retrai(*arguments, "--trust")
    assert (code, len(err.splitlines())) == (70, 2)
    assert err.startswith("error: nothing can be kept in the state folder")


def test_no_name_behind_tools_is_a_usage_error(retrai, toy) -> None:
    code, _, err = retrai(*toy([RIGHT]), "--tools", "")
    assert code == 2
    assert "--tools names no tool" in err


def test_a_path_in_the_place_of_a_goal_is_told_where_paths_go(
    retrai, toy, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "checks").mkdir()
    monkeypatch.chdir(project)
    code, _, err = retrai(*toy([RIGHT]), "checks")
    assert code == 2
    assert "`-C DIR`" in err
    assert "`--option targets=PATH`" in err


def test_a_project_on_a_read_only_file_system_is_left_before_the_first_turn(
    retrai, toy, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("work", "run_end"):
        monkeypatch.setattr(f"retrai_core.runs.{module}.is_read_only", lambda it: it == project)
    code, out, _ = retrai(*toy([RIGHT]), "--json")
    record = json.loads(out)
    assert (code, record["status"], record["iterations"]) == (1, "failed", 0)
    assert record["reason"].endswith("; the file system of the project is read-only")
    assert record["next_step"].startswith(f"cp -r {project} COPY; retrai run answer -C COPY ")
