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
    task.write_text("fix it")
    code, _, err = retrai("run", "-C", project, "--task", "x", "--task-file", task)
    assert code == 2
    assert "not both" in err


def test_a_missing_folder_is_named(retrai, tmp_path: Path) -> None:
    code, _, err = retrai("run", "-C", tmp_path / "nowhere")
    assert code == 2
    assert "nowhere" in err


def test_hitl_without_a_terminal_is_refused_before_anything_starts(
    retrai, toy, project: Path
) -> None:
    arguments = toy([("write_answer", {"text": "42"})])
    with (project / ".retrai.yml").open("a") as settings:
        settings.write("hitl_enabled: true\n")
    for flags in (["--hitl"], []):
        code, out, err = retrai(*arguments, *flags)
        assert (code, out) == (2, "")
        assert "needs a terminal" in err
        assert "`--no-hitl`" in err
    assert retrai(*arguments, "--no-hitl")[0] == 0


def test_a_project_that_no_goal_fits_is_a_usage_error(retrai, project: Path) -> None:
    for words in (["run"], ["init"]):
        code, _, err = retrai(*words, "-C", project)
        assert code == 2
        assert "no installed goal fits" in err
        assert f"`retrai {words[0]} " in err


MISSPELT = {
    "goal": "goal: answr",
    "memory": "memory: fiel",
    "agent": "agent: goal-lop",
    "sandbox": "sandbox: bwarp",
    "tool": "tools: [file_raed]",
}


@pytest.mark.parametrize("kind", MISSPELT)
def test_a_name_that_nobody_knows_is_told_with_the_file_it_stands_in(
    retrai, toy, project: Path, kind: str
) -> None:
    arguments = toy([])
    line = MISSPELT[kind]
    (project / ".retrai.yml").write_text(f"{line}\n")
    code, _, err = retrai(*arguments)
    name = line.partition(": ")[2].strip("[]")
    wanted = f"error: no {kind} is called `{name}` (from {project / '.retrai.yml'})"
    assert (code, err.splitlines()[0]) == (2, wanted)


def test_a_tool_to_leave_out_that_nobody_knows_is_told_with_its_file(
    retrai, toy, project: Path
) -> None:
    arguments = toy([])
    (project / ".retrai.yml").write_text("no_tools: [file_raed]\n")
    _, _, err = retrai(*arguments)
    assert f"`file_raed` (from {project / '.retrai.yml'})" in err


def without_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETRAI_DISABLE_PLUGINS", "retrai-llm-litellm")


def test_a_model_that_nobody_serves_is_told_with_the_file_it_stands_in(
    retrai, toy, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_litellm(monkeypatch)
    toy([])
    (project / ".retrai.yml").write_text("model: offlin\n")
    code, _, err = retrai("run", "-C", project)
    assert code == 2
    assert err.startswith(f"error: no provider serves the model `offlin` (from {project}/.retrai")
    _, _, err = retrai("run", "-C", project, "-m", "offlien")
    assert err.startswith("error: no provider serves the model `offlien`\n")


def test_a_model_that_cannot_be_used_is_told_with_the_variable_that_names_it(
    retrai, toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    from retrai_toy import ScriptProvider

    arguments = toy([])
    monkeypatch.setattr(ScriptProvider, "ready", lambda *_: "no such script")
    monkeypatch.setenv("RETRAI_MODEL", "script:none")
    _, _, err = retrai(*arguments[:-2])
    what = "the model script:none (from RETRAI_MODEL) cannot be used: no such script"
    assert err.startswith(f"error: {what}\n")


def test_an_option_with_a_wrong_value_is_told_with_its_file(retrai, toy, project: Path) -> None:
    arguments = toy([])
    file = project / ".retrai.yml"
    file.write_text("plugins: {shell: {limit_s: long}}\n")
    _, _, err = retrai(*arguments)
    assert err.splitlines()[0].endswith(f", got 'long' (from {file})")


def test_a_name_from_the_environment_is_told_with_its_variable(
    retrai, toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETRAI_AGENT", "goal-lop")
    _, _, err = retrai(*toy([]))
    assert err.startswith("error: no agent is called `goal-lop` (from RETRAI_AGENT)\n")


def test_a_name_just_typed_is_told_without_a_source(retrai, toy) -> None:
    _, _, err = retrai(*toy([]), "answr")
    assert err.startswith("error: no goal is called `answr`\n")


def test_a_memory_that_nobody_knows_is_told_with_its_file_where_it_is_listed(
    retrai, toy, project: Path
) -> None:
    toy([])
    (project / ".retrai.yml").write_text("memory: fiel\n")
    code, _, err = retrai("memory", "list", "-C", project)
    assert (code, f"(from {project / '.retrai.yml'})" in err) == (2, True)
