"""The flags, commands and option names of the original retrAI go on working, and show nowhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from retrai_core import UsageError
from retrai_core.cli.main import ALIASES
from retrai_core.config.sources import load_settings
from retrai_core.runs.resolver import Resolver

Retrai = Callable[..., tuple[int, str, str]]

TABLE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("shell-goal", {}, {"check_command": "make check"}),
    (
        "shell-goal",
        {"check_command": "./c", "success_condition": {"output_regex": "^ok", "max_seconds": 2}},
        {"success_condition.output_matches": "^ok", "success_condition.exit_code": 0},
    ),
    ("perf-check", {}, {"command": "python bench.py", "max_seconds": 1.0}),
    ("perf-check", {"check_command": "x", "iterations": 5}, {"command": "x", "repeats": 5}),
    (
        "sql-benchmark",
        {
            "dsn": "sqlite:///a.db",
            "query": "SELECT 1",
            "iterations": 2,
            "warmup": False,
            "expected_rows": 1,
            "explain": True,
            "profile_tables": ["orders"],
            "backend": "sqlalchemy",
        },
        {"max_ms": 100.0, "runs": 2, "warmup": 0, "expected_rows": 1},
    ),
    (
        "ml-optimize",
        {"data_file": "d.csv", "target_column": "y", "task_type": "classification"},
        {"target": "y", "target_metric": "roc_auc", "target_value": 0.85},
    ),
    (
        "ml-optimize",
        {"data_file": "d.csv", "target_column": "y", "target_metric": "f1"},
        {"target_metric": "f1_macro"},
    ),
    (
        "text-improve",
        {"input_file": "draft.md", "criteria": ["short", "clear"]},
        {"file": "draft.md", "rubric": "- short\n- clear", "target_score": 8.0},
    ),
    (
        "text-improve",
        {"input_file": "draft.md", "output_file": "out.md"},
        {"file": "out.md", "source": "draft.md"},
    ),
    (
        "creative",
        {"prompt": "A poem.", "style": "haiku", "max_words": 20},
        {"brief": "A poem.", "file": "output.md", "max_words": 20},
    ),
    (
        "score",
        {"task": "Sum it up.", "input_file": "in.md", "rubric": "true"},
        {"brief": "Sum it up.", "file": "output.md", "rubric": "true"},
    ),
]


def write(project: Path, goal: str, options: dict[str, Any]) -> None:
    (project / ".retrai.yml").write_text(yaml.safe_dump({"goal": goal, **options}))


@pytest.mark.parametrize(("goal", "written", "expected"), TABLE)
@pytest.mark.parametrize("below_options", [False, True])
def test_a_file_of_the_original_gives_its_options(
    project: Path,
    goal: str,
    written: dict[str, Any],
    expected: dict[str, Any],
    below_options: bool,
) -> None:
    every = {**written, "system_prompt": "Be brief."}
    write(project, goal, {"options": every} if below_options else every)
    part, _ = Resolver(load_settings(project)).goal()
    for name, value in {**expected, "system_prompt": "Be brief."}.items():
        found: Any = part.options
        for step in name.split("."):
            found = getattr(found, step)
        assert found == value


@pytest.mark.parametrize(
    ("goal", "written", "line"),
    [
        (
            "perf-check",
            {"iterations": 0},
            "iterations of the goal perf-check: must be 1 or more, got 0",
        ),
        (
            "shell-goal",
            {"success_condition": {"output_regex": "("}},
            (
                "success_condition.output_regex of the goal shell-goal: is not a valid regular "
                "expression"
            ),
        ),
        (
            "perf-check",
            {"check_command": "a", "command": "b"},
            "check_command and command are one option of the goal perf-check",
        ),
        (
            "sql-benchmark",
            {"dsn": "sqlite:///a.db", "query": "SELECT 1", "backend": "databricks"},
            "backend of the goal sql-benchmark: Databricks is not supported; export the tables",
        ),
        (
            "api-test",
            {"endpoints": [{"path": "/", "expect_stat": 200}]},
            "endpoints.0.expect_stat of the goal api-test: no such key, got 200",
        ),
        ("score", {"criteria": [1]}, "criteria of the goal score: must be a text or a list"),
    ],
)
def test_a_wrong_value_is_one_line_with_the_name_that_was_written(
    project: Path, goal: str, written: dict[str, Any], line: str
) -> None:
    write(project, goal, written)
    with pytest.raises(UsageError) as caught:
        Resolver(load_settings(project)).goal()
    assert caught.value.message.startswith(line)
    assert f"(from {project / '.retrai.yml'})" in caught.value.message
    assert "\n" not in caught.value.message


def test_a_flag_is_stronger_than_the_file_whichever_name_each_uses(project: Path) -> None:
    write(project, "perf-check", {"command": "from file", "iterations": 4})
    flags = {"options": {"check_command": "from flag", "repeats": 2}}
    part, _ = Resolver(load_settings(project, flags)).goal()
    assert (part.options.command, part.options.repeats) == ("from flag", 2)


def test_config_show_has_the_own_name_and_the_file_that_gives_the_value(
    project: Path, retrai: Retrai, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RETRAI_TRUST", raising=False)
    write(project, "perf-check", {"check_command": "python b.py", "iterations": 4})
    code, out, _ = retrai("config", "show", "-C", project)
    assert code == 0
    rows = {line.split()[0]: line for line in out.splitlines() if line}
    assert "iterations" not in rows
    assert "check_command" not in rows
    assert str(project / ".retrai.yml") in rows["repeats"]
    assert "python b.py" in rows["command"]
    assert "command, repeats of .retrai.yml: not agreed to yet" in out


def test_a_command_under_an_alias_needs_consent_too(
    project: Path, retrai: Retrai, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RETRAI_TRUST", raising=False)
    write(project, "perf-check", {"check_command": "python b.py", "system_prompt": "Be brief."})
    code, _, err = retrai("run", "-C", project, "--model", "offline")
    assert code == 2
    assert 'check_command: "python b.py"' in err
    assert "system_prompt" not in err


def test_init_takes_the_flags_and_keeps_the_options_under_their_own_names(
    project: Path, retrai: Retrai
) -> None:
    code, _, _ = retrai("init", "--cwd", project, "-g", "pytest", "--hitl", "--max-iter", "7")
    written = yaml.safe_load((project / ".retrai.yml").read_text())
    assert (code, written) == (0, {"goal": "pytest", "max_iterations": 7, "hitl_enabled": True})
    write(project, "perf-check", {"check_command": "python b.py", "iterations": 4, "max_time": 9})
    code, _, _ = retrai("init", "-C", project, "-g", "perf-check", "--force")
    written = yaml.safe_load((project / ".retrai.yml").read_text())
    assert code == 0
    assert (written["command"], written["repeats"]) == ("python b.py", 4)
    assert not {"check_command", "iterations"} & written.keys()


@pytest.mark.parametrize("command", [["run"], ["init"], ["runs", "resume"], ["runs", "list"], []])
def test_no_help_page_shows_another_name(retrai: Retrai, command: list[str]) -> None:
    _, page, _ = retrai(*command, "--help")
    hidden = ["--cwd", "--max-iter ", "--stop-mode", "--api-base", "--api-key", "-g,", "--hitl-"]
    assert not [name for name in [*hidden, *ALIASES] if f" {name}" in page]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--cwd", "/no/such/folder"], "no such folder: /no/such/folder"),
        (["--max-iter", "0"], "max_iterations: must be 1 or more"),
        (["--stop-mode", "loud"], "invalid value for '--stop-mode'"),
        (["--max-cost", "-1"], "max_cost: must be 0 or more"),
        (["--api-key", "sk-1"], "set it in the environment instead: `export LLM_API_KEY=...`"),
    ],
)
def test_the_flags_are_understood(
    project: Path, retrai: Retrai, flags: list[str], said: str
) -> None:
    code, _, err = retrai("run", "pytest", "-C", project, *flags)
    assert code == 2
    assert said in err
    assert "sk-1" not in err


def test_history_lists_the_runs_and_rollback_undoes_one(project: Path, retrai: Retrai) -> None:
    assert retrai("history") == retrai("runs", "list")
    code, _, err = retrai("rollback", "nothing")
    assert (code, err) == (2, retrai("runs", "undo", "nothing")[2])
