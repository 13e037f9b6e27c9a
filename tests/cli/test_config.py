"""`retrai config show` tells where each value comes from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrai_core.config.model import DEFAULT_MODEL, RunConfig
from retrai_core.config.sources import PROJECT_FILE


def shown(retrai, project: Path) -> dict[str, dict[str, object]]:
    code, out, _ = retrai("config", "show", "-C", project, "--json")
    assert code == 0
    return json.loads(out)


def test_every_setting_is_shown(retrai, project: Path) -> None:
    names = {field.alias or name for name, field in RunConfig.model_fields.items()}
    assert set(shown(retrai, project)) == names - {"run_id", "options"}


def test_each_source_beats_the_one_before(
    retrai, project: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = own_folders / "config" / "retrai" / "config.yml"
    user.parent.mkdir(parents=True)
    user.write_text("model: user-model\nmax_iterations: 7\nmemory: none\n")
    (project / PROJECT_FILE).write_text("model: project-model\nmax_iterations: 8\n")
    monkeypatch.setenv("RETRAI_MODEL", "environment-model")
    settings = shown(retrai, project)
    assert settings["model"] == {"value": "environment-model", "from": "RETRAI_MODEL"}
    assert settings["max_iterations"]["value"] == 8
    assert str(settings["max_iterations"]["from"]).endswith(PROJECT_FILE)
    assert settings["memory"] == {"value": "none", "from": str(user)}
    assert settings["hitl_enabled"] == {"value": False, "from": "default"}


@pytest.mark.parametrize(
    ("where", "line"), [("project", "max_iterations: many\n"), ("user", "temperature: hot\n")]
)
def test_a_wrong_value_is_told_though_a_stronger_source_overrules_it(
    retrai, project: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch, where: str, line: str
) -> None:
    user = own_folders / "config" / "retrai" / "config.yml"
    user.parent.mkdir(parents=True)
    path = user if where == "user" else project / PROJECT_FILE
    path.write_text(line)
    key = line.partition(":")[0]
    monkeypatch.setenv(f"RETRAI_{key.upper()}", "1")
    code, _, err = retrai("config", "show", "-C", project)
    assert code == 2
    assert err.startswith(f"error: {key}: ")
    assert str(path) in err


def test_the_folder_is_called_a_flag_only_where_it_was_one(
    retrai, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shown(retrai, project)["cwd"]["from"] == "flag"
    monkeypatch.chdir(project)
    assert json.loads(retrai("config", "show", "--json")[1])["cwd"]["from"] == "default"


def test_a_variable_that_is_misspelt_is_told(
    retrai, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETRAI_MODLE", "offline")
    code, _, err = retrai("config", "show", "-C", project)
    assert (code, err.count("did you mean RETRAI_MODEL?")) == (0, 1)


def test_a_file_that_is_no_text_is_told_with_what_to_do(retrai, project: Path) -> None:
    (project / PROJECT_FILE).write_bytes(b"\xff\xfe\x00")
    code, _, err = retrai("config", "show", "-C", project)
    assert code == 2
    assert err.splitlines() == [
        f"error: {project / PROJECT_FILE} cannot be read: it is no text in UTF-8",
        "hint: save it as UTF-8, or delete it",
    ]


def test_options_of_the_goal_stand_beside_the_settings(retrai, project: Path) -> None:
    (project / PROJECT_FILE).write_text("check_command: make check\n")
    assert shown(retrai, project)["check_command"]["value"] == "make check"


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_what_a_run_would_refuse_of_the_goals_options_is_said(
    retrai, project: Path, arguments: list[str]
) -> None:
    (project / PROJECT_FILE).write_text("goal: shell-goal\nchek_command: make check\n")
    code, out, err = retrai("config", "show", "-C", project, *arguments)
    assert code == 0
    assert "chek_command" in out
    assert err.startswith("warning: `retrai run` refuses this: chek_command: neither a setting nor")


def test_the_model_is_the_one_that_a_run_would_take(
    retrai, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("retrai_llm_litellm")
    pytest.importorskip("retrai_llm_offline")
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    why = f"default, since no key for {DEFAULT_MODEL} is set"
    assert shown(retrai, project)["model"] == {"value": "offline", "from": why}
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-some-key")
    assert shown(retrai, project)["model"] == {"value": DEFAULT_MODEL, "from": "default"}


def test_the_table_is_plain_off_a_terminal(retrai, project: Path) -> None:
    code, out, _ = retrai("config", "show", "-C", project)
    assert code == 0
    assert "\x1b" not in out
    assert "max_iterations" in out
