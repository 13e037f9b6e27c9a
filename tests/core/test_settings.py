"""Where a run's settings come from, and what is said of those that cannot be used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from retrai_core import UsageError
from retrai_core.config.model import DEFAULT_MODEL, RunConfig, new_run_id, unknown_option
from retrai_core.config.sources import load_settings, user_config_file


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, for a user without a configuration or any `RETRAI_` variable."""
    for name in list(os.environ):
        if name.upper().startswith("RETRAI_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def user_file(project: Path) -> Path:
    """The user's own configuration file, whose folder exists."""
    path = user_config_file()
    path.parent.mkdir(parents=True)
    return path


def refusal(project: Path, text: str | None = None, **flags: object) -> UsageError:
    """The error that the settings of `project` are refused with."""
    if text is not None:
        (project / ".retrai.yml").write_text(text)
    with pytest.raises(UsageError) as caught:
        load_settings(project, flags)
    return caught.value


def test_without_any_source_every_setting_is_a_default(project: Path) -> None:
    settings = load_settings(project)
    assert settings.config.model_name == DEFAULT_MODEL
    assert settings.config.max_iterations == 50
    assert settings.config.goal is None
    assert {settings.origins[name] for name in ("goal", "model_name", "tools")} == {"default"}


def test_each_source_wins_over_the_one_before_it(
    project: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = "model: {0}\ngoal: {0}\nmemory: {0}\nsandbox: {0}\n"
    user_file.write_text(every.format("user"))
    (project / ".retrai.yml").write_text("model: file\ngoal: file\nmemory: file\n")
    monkeypatch.setenv("RETRAI_MODEL", "environment")
    monkeypatch.setenv("RETRAI_GOAL", "environment")
    settings = load_settings(project, {"model_name": "flag", "goal": None})

    found = settings.config
    assert [found.model_name, found.goal, found.memory, found.sandbox] == [
        "flag",
        "environment",
        "file",
        "user",
    ]
    assert settings.origins["model_name"] == "flag"
    assert settings.origins["goal"] == "RETRAI_GOAL"
    assert settings.origins["memory"] == str(project / ".retrai.yml")
    assert settings.origins["sandbox"] == str(user_file)


def test_a_flag_may_say_model_as_the_file_does(project: Path) -> None:
    (project / ".retrai.yml").write_text("model: file\n")
    settings = load_settings(project, {"model": "flag"})
    assert (settings.config.model_name, settings.origins["model_name"]) == ("flag", "flag")


def test_an_empty_variable_counts_as_unset(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / ".retrai.yml").write_text("model: file\n")
    monkeypatch.setenv("RETRAI_MODEL", "")
    assert load_settings(project).config.model_name == "file"


def test_numbers_lists_and_truth_values_come_from_the_environment(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETRAI_MAX_ITERATIONS", "7")
    monkeypatch.setenv("RETRAI_HITL_ENABLED", "true")
    monkeypatch.setenv("RETRAI_TOOLS", '["file_read", "file_patch"]')
    config = load_settings(project).config
    assert (config.max_iterations, config.hitl_enabled) == (7, True)
    assert config.tools == ["file_read", "file_patch"]


def test_the_plugin_switches_of_the_environment_are_no_settings(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETRAI_PLUGINS", "retrai-goals-python,pytest")
    monkeypatch.setenv("RETRAI_DISABLE_PLUGINS", "acme")
    monkeypatch.setenv("RETRAI_STATE_DIR", "/elsewhere")
    settings = load_settings(project)
    assert settings.config.plugins == {}
    assert settings.origins["plugins"] == "default"


def test_keys_that_are_no_settings_are_options_of_the_goal(project: Path) -> None:
    (project / ".retrai.yml").write_text("goal: shell-goal\ncheck_command: make check\n2: two\n")
    settings = load_settings(project, {"options": {"max_seconds": "3"}})
    assert settings.config.options == {
        "check_command": "make check",
        "2": "two",
        "max_seconds": "3",
    }
    assert settings.origins["options.check_command"] == str(project / ".retrai.yml")
    assert settings.origins["options.max_seconds"] == "flag"


def test_what_makes_a_run_unique_cannot_stand_in_a_file(project: Path) -> None:
    (project / ".retrai.yml").write_text("run_id: mine\ncwd: /\n")
    config = load_settings(project).config
    assert config.run_id != "mine"
    assert config.cwd == project.resolve()
    assert config.options == {"run_id": "mine", "cwd": "/"}


def test_options_and_plugins_of_several_sources_are_put_together(
    project: Path, user_file: Path
) -> None:
    user_file.write_text(
        "plugins: {web: {engine: one, depth: 2}, judge: {strict: true}}\nquery: a\n"
    )
    (project / ".retrai.yml").write_text("plugins: {web: {engine: two}}\ndsn: b\n")
    settings = load_settings(project)
    assert settings.config.plugins == {
        "web": {"engine": "two", "depth": 2},
        "judge": {"strict": True},
    }
    assert settings.config.options == {"query": "a", "dsn": "b"}
    assert settings.origins["plugins.web"] == str(project / ".retrai.yml")
    assert settings.origins["plugins.judge"] == str(user_file)


def test_an_empty_file_says_nothing(project: Path) -> None:
    (project / ".retrai.yml").write_text("# model: offline\n")
    assert load_settings(project).config.model_name == DEFAULT_MODEL


def test_invalid_yaml_names_the_file_and_the_line(project: Path) -> None:
    error = refusal(project, "goal: pytest\nmodel: [offline\nmemory: none\n")
    assert f"{project / '.retrai.yml'} is not valid YAML at line 3" in error.message
    assert "needs quotes" in error.hint
    assert "`retrai config show` reads the file again" in error.hint
    assert error.exit_code == 2


@pytest.mark.parametrize("text", ["goal: 2026-13-45\n", "goal: \x00\n", "{a: }}\n"])
def test_whatever_yaml_cannot_read_names_the_file(project: Path, text: str) -> None:
    assert f"{project / '.retrai.yml'} is not valid YAML" in refusal(project, text).message


def test_a_file_that_is_not_utf_8_is_named(project: Path) -> None:
    (project / ".retrai.yml").write_bytes(b"goal: caf\xe9\n")
    assert f"{project / '.retrai.yml'} cannot be read" in refusal(project).message


def test_a_folder_in_the_file_s_place_is_named(project: Path) -> None:
    (project / ".retrai.yml").mkdir()
    assert f"{project / '.retrai.yml'} cannot be read" in refusal(project).message


@pytest.mark.parametrize("text", ["- goal\n", "just words\n", "42\n"])
def test_a_file_that_is_no_mapping_says_what_it_should_be(project: Path, text: str) -> None:
    error = refusal(project, text)
    assert f"{project / '.retrai.yml'} must hold `key: value` lines" in error.message
    assert "`goal: pytest` is one" in error.hint


def test_a_wrong_type_names_the_key_the_value_and_the_file(project: Path) -> None:
    message = refusal(project, "max_iterations: often\n").message
    assert message.startswith("max_iterations: ")
    assert "'often'" in message
    assert f"(from {project / '.retrai.yml'})" in message


def test_a_value_out_of_range_names_the_variable_that_gave_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETRAI_TEMPERATURE", "9")
    message = refusal(project).message
    assert message.startswith("temperature: ")
    assert "'9'" in message
    assert "(from RETRAI_TEMPERATURE)" in message


def test_a_value_out_of_range_names_the_flag(project: Path) -> None:
    error = refusal(project, max_iterations=0)
    assert error.message.startswith("max_iterations: ")
    assert "got 0 (from flag)" in error.message
    assert "retrai config show" in error.hint


def test_the_model_is_called_as_the_user_wrote_it(project: Path) -> None:
    message = refusal(project, "model: 5\n").message
    assert message.startswith("model: ")
    assert "got 5" in message


@pytest.mark.parametrize("key", ["plugins", "options", "pins"])
def test_a_list_where_a_mapping_belongs_names_the_key(project: Path, key: str) -> None:
    message = refusal(project, f"{key}: [one]\n").message
    assert message.startswith(key)
    assert "['one']" in message


def test_a_list_is_refused_though_another_source_has_a_mapping(
    project: Path, user_file: Path
) -> None:
    user_file.write_text("plugins: {web: {}}\n")
    assert refusal(project, "plugins: [one]\n").message.startswith("plugins")
    user_file.write_text("options: [one]\n")
    (project / ".retrai.yml").write_text("options: 3\n")
    assert refusal(project).message.startswith("options")


def test_options_of_a_plugin_that_are_no_mapping_name_the_plugin(
    project: Path, user_file: Path
) -> None:
    user_file.write_text("plugins: {web: often}\n")
    message = refusal(project, "plugins: {judge: {}}\n").message
    assert message.startswith("plugins.web: ")
    assert f"(from {user_file})" in message


def test_a_variable_that_is_no_json_list_is_named(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETRAI_TOOLS", "file_read,file_patch")
    message = refusal(project).message
    assert message.startswith("tools: ")
    assert "(from RETRAI_TOOLS)" in message


def test_a_missing_folder_is_said_before_anything_is_read(project: Path) -> None:
    error = refusal(project / "missing")
    assert error.message == f"no such folder: {project / 'missing'}"
    assert "-C" in error.hint


def test_a_file_is_no_project_folder(project: Path) -> None:
    (project / "setup.py").write_text("")
    assert "no such folder" in refusal(project / "setup.py").message


def test_an_unknown_option_of_a_goal_names_the_nearest_setting_too() -> None:
    error = unknown_option("max_iteration", "goal", "pytest", ["timeout_s"])
    assert "neither a setting nor an option of the goal pytest" in error.message
    assert "did you mean max_iterations?" in error.message
    assert "retrai plugins show pytest" in error.hint


def test_a_setting_given_as_an_option_says_where_it_belongs() -> None:
    error = unknown_option("python", "goal", "pytest", ["timeout_s"])
    assert error.message == "python is a setting, no option of the goal pytest"
    assert "`python: VALUE` in .retrai.yml" in error.hint


def test_a_key_that_an_mcp_server_has_not_lists_those_it_has(project: Path) -> None:
    (project / ".retrai.yml").write_text("mcp: {files: {command: server, args: [x]}}\n")
    error = refusal(project)
    assert error.message.startswith("mcp.files.args: no such key")
    assert "command, url" in error.hint


def test_an_unknown_option_of_a_tool_names_the_tool_s_own() -> None:
    error = unknown_option("max_char", "tool", "file_read", ["max_chars", "limit_s"])
    assert "no option of the tool file_read (did you mean max_chars?)" in error.message


def test_run_ids_differ_and_are_short_enough_to_type() -> None:
    ids = {new_run_id() for _ in range(100)}
    assert len(ids) == 100
    assert {len(run_id) for run_id in ids} == {12}


def test_a_configuration_travels_through_json(project: Path) -> None:
    config = RunConfig(cwd=project, goal="pytest", model="offline", options={"timeout_s": 3})
    assert RunConfig.model_validate(config.model_dump(mode="json")) == config


@pytest.mark.parametrize(
    "text",
    [
        "agents: {goal-loop: 3}",
        "agents: [goal-loop]",
        "goals: {pytest: 3}",
        "goals: 3",
        "goal: 3",
        "agent: [goal-loop]",
        "tools: [1]",
        "agents: {goal-loop: {max_iterations: many}}",
    ],
)
def test_a_section_of_another_form_is_refused_with_its_file(project: Path, text: str) -> None:
    assert str(project / ".retrai.yml") in refusal(project, text).message


def test_an_entry_without_options_says_nothing(project: Path) -> None:
    (project / ".retrai.yml").write_text("goals: {pytest: }\nagents: {goal-loop: }\n")
    config = load_settings(project).config
    assert (config.goals, config.agents) == ({"pytest": {}}, {"goal-loop": {}})


def test_entries_of_both_files_are_put_together(project: Path, user_file: Path) -> None:
    user_file.write_text("goals: {a: {x: 1, y: 1}, b: {use: c, x: 1}}\n")
    (project / ".retrai.yml").write_text("goals: {a: {y: 2}, b: {use: d}}\n")
    settings = load_settings(project)
    # A check that is made with another goal has none of the first one's options.
    assert settings.config.goals == {"a": {"x": 1, "y": 2}, "b": {"use": "d"}}
    assert settings.origins["goals.a.x"] == str(user_file)
    assert settings.origins["goals.a.y"] == str(project / ".retrai.yml")


def test_a_limit_that_the_user_gave_the_agent_counts_before_a_later_source(
    project: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file.write_text("agents: {goal-loop: {max_time: 60, max_iterations: 3}}\n")
    settings = load_settings(project)
    assert (settings.config.max_time_s, settings.config.max_iterations) == (60, 3)
    assert settings.origins["max_iterations"] == str(user_file)
    monkeypatch.setenv("RETRAI_MAX_ITERATIONS", "5")
    assert load_settings(project).config.max_iterations == 5
    assert load_settings(project, {"agent": "other"}).config.max_time_s is None
