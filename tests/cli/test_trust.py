"""What a stranger's project can run is shown, and asked for once."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from retrai_core import FilesStore
from retrai_core.config.sources import load_settings
from retrai_core.plugins.catalog import Catalog
from retrai_core.runs.trust import claims_of
from retrai_core.verification.clean_up import note

from .kept import kept_runs

RIGHT = ("write_answer", {"text": "42"})
SHELL = "plugins: {shell: {limit_s: 30}}\nsandbox: local\nmemory: none\n"


@pytest.fixture
def stranger(monkeypatch: pytest.MonkeyPatch, project: Path, toy) -> list[str]:
    """Arguments of a run in a project that names what is run, where nothing was agreed to."""
    monkeypatch.delenv("RETRAI_TRUST", raising=False)
    arguments = toy([RIGHT])
    (project / ".retrai.yml").write_text(SHELL)
    return arguments


def claims(project: Path) -> dict[str, object]:
    settings = load_settings(project)
    return dict(claims_of(settings))


def test_without_a_terminal_nothing_is_run_and_everything_is_said(
    retrai, stranger: list[str], project: Path
) -> None:
    code, out, err = retrai(*stranger)
    assert (code, out) == (2, "")
    assert 'plugins.shell: {"limit_s": 30}' in err
    assert 'sandbox: "local"' in err
    assert "retrai run --trust" in err
    assert not (project / "answer.txt").exists()


def test_trust_is_remembered_until_a_value_changes(
    retrai, stranger: list[str], project: Path
) -> None:
    assert retrai(*stranger, "--trust")[0] == 0
    (project / "answer.txt").unlink()
    (project / ".retrai.yml").write_text("# a comment, and another limit\n" + SHELL)
    assert retrai(*stranger, "-n", "7")[0] == 0
    (project / ".retrai.yml").write_text(SHELL.replace("30", "31"))
    code, _, err = retrai(*stranger)
    assert code == 2
    assert '{"limit_s": 31}' in err


def test_what_was_agreed_to_in_one_project_is_not_in_another(
    retrai, stranger: list[str], project: Path
) -> None:
    assert retrai(*stranger, "--trust")[0] == 0
    other = project.with_name("other")
    project.rename(other)
    project.mkdir()
    code, _, _ = retrai(*(str(other) if word == str(project) else word for word in stranger))
    assert code == 2


def test_the_environment_agrees_for_once(
    retrai, stranger: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETRAI_TRUST", "1")
    assert retrai(*stranger)[0] == 0
    monkeypatch.delenv("RETRAI_TRUST")
    assert retrai(*stranger)[0] == 2


@pytest.mark.parametrize(("folder", "code"), [("{}", 0), ("{}/*", 0), ("{}/another", 2)])
def test_the_user_can_trust_folders_beforehand(
    retrai, stranger: list[str], own_folders: Path, folder: str, code: int
) -> None:
    path = own_folders / "config" / "retrai" / "config.yml"
    path.parent.mkdir(parents=True)
    path.write_text(f"trusted: ['{folder.format(own_folders)}']\n")
    assert retrai(*stranger)[0] == code


def test_a_project_cannot_trust_itself(retrai, stranger: list[str], project: Path) -> None:
    (project / ".retrai.yml").write_text("trusted: ['/*']\n" + SHELL)
    code, _, err = retrai(*stranger)
    assert code == 2
    assert "a project cannot say itself that it is trusted" in err


def test_a_project_that_runs_nothing_of_its_own_is_not_asked_about(
    retrai, stranger: list[str], project: Path
) -> None:
    (project / ".retrai.yml").write_text(
        "goal: answer\npatience_s: 2\nmemory: none\nsandbox: auto\nmax_iterations: 3\n"
    )
    assert claims(project) == {}
    assert retrai(*stranger)[0] == 0


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("python: ./python", "python"),
        ("mcp: {git: {command: [evil]}}", "mcp"),
        ("model: replay:evil.jsonl", "model"),
        ("check_command: evil", "check_command"),
        ("goal: shell-goal\ncheck_command: evil", "check_command"),
        ("options: {train_script: evil.py}", "train_script"),
        ("disabled_plugins: [bwrap]", "disabled_plugins"),
        ("holdout: [~/.ssh]", "holdout"),
        ("allow_edit: ['tests/**']", "allow_edit"),
        ("max_tampering: 99", "max_tampering"),
        ("args: -k plain", "args"),
        ("goal: pytest\nargs: -k plain", "args"),
        ("goal: pytest\noptions: {args: -k plain}", "args"),
        ("goal: pytest@retrai-goals-python\ntargets: tests/test_easy.py", "targets"),
        ("goal: pytest\npath: easy", "path"),
        ("goal: bun-test\nargs: --only", "args"),
        ("goal: npm-test\nscript: easy", "script"),
        ("goal: make-test\ntarget: easy", "target"),
        ("goal: cargo-test\nprotect_inline_tests: false", "protect_inline_tests"),
        ("goal: go-test\npackages: ./easy", "packages"),
        ("goal: shell-goal\nsuccess_condition: {exit_code: 1}", "success_condition"),
        ("goal: perf-check\nmax_seconds: 99", "max_seconds"),
        ("goal: sql-benchmark\ndata_check: counts", "data_check"),
        ("goal: ml-optimize\ntarget_value: 0.1", "target_value"),
        ("goal: score\nrubric: everything is good", "rubric"),
        ("goal: creative\ntarget_score: 1", "target_score"),
        ("pins: {pytest: retrai-goals-python}", "pins.pytest"),
    ],
)
def test_each_setting_that_runs_or_redirects_is_shown(project: Path, text: str, name: str) -> None:
    (project / ".retrai.yml").write_text(text)
    assert list(claims(project)) == [name]


@pytest.mark.parametrize(
    ("user", "theirs", "names"),
    [
        ("max_cost: 1", "max_cost: 2", ["max_cost"]),
        ("max_cost: 2", "max_cost: 1", []),
        ("max_tokens: 5", "max_tokens: null", ["max_tokens"]),
        ("permissions: {default: ask}", "permissions: {default: allow}", ["permissions"]),
        ("max_tampering: 3", "max_tampering: 99", ["max_tampering"]),
        ("hitl_enabled: true", "hitl_enabled: false", ["hitl_enabled"]),
        ("sandbox: bwrap", "sandbox: auto", ["sandbox"]),
        ("confirm: 3", "confirm: 1", ["confirm"]),
        ("confirm: 1", "confirm: 3", []),
        ("holdout: [a, b]", "holdout: [a]", ["holdout"]),
        ("no_tools: [a]", "no_tools: [b]", ["no_tools"]),
        ("no_tools: [a]", "no_tools: [a, b]", []),
        ("tools: [a]", "tools: [a, b]", ["tools"]),
        ("tools: [a, b]", "tools: [b]", []),
        ("tools: [a, b]", "tools: [-b]", []),
        ("tools: [a]", "tools: [+b]", ["tools"]),
        ("tools: [-a]", "tools: [-b, +c]", []),
        ("tools: [-a]", "tools: [+a]", ["tools"]),
        ("tools: [-a]", "tools: [a]", ["tools"]),
        ("tools: [-a]", "tools: [b]", []),
        ("model: a", "permissions: {deny: [shell]}", []),
    ],
)
def test_what_loosens_the_users_own_limits_is_shown(
    project: Path, own_folders: Path, user: str, theirs: str, names: list[str]
) -> None:
    path = own_folders / "config" / "retrai" / "config.yml"
    path.parent.mkdir(parents=True)
    path.write_text(user)
    (project / ".retrai.yml").write_text(theirs)
    assert list(claims(project)) == names


@pytest.mark.parametrize(
    "text",
    [
        "goal: pytest\ntimeout_s: 600\nmax_full_failures: 3",
        "goal: make-test\nprotect: [data/]",
        "goal: pyright\nwarnings_as_errors: true",
        "timeout_s: 600",
        "goal: not-installed\nanything: 1",
    ],
)
def test_what_makes_no_check_easier_is_not_asked_about(project: Path, text: str) -> None:
    (project / ".retrai.yml").write_text(text)
    assert claims(project) == {}


def test_every_first_party_option_says_whether_it_loosens() -> None:
    silent = [
        f"{record.name}.{name}"
        for record in Catalog.scan(environ={}).records("goal")
        if record.dist.startswith("retrai-") and record.dist != "retrai-toy"
        for name, option in record.options.items()
        if not option.runs and option.loosens is None
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            'goal: "a@b"\ngoals: {"a@b": {use: shell-goal, check_command: touch x}}',
            "goals.a@b.check_command",
        ),
        (
            'goals: {pytest: {use: "pytest@retrai-goals-python", args: "-k plain"}}',
            "goals.pytest.args",
        ),
        ("goal: pytest\ngoals: {pytest: {use: make-test}}", "goals.pytest.use"),
    ],
)
def test_no_name_of_a_goal_hides_what_is_run(project: Path, text: str, name: str) -> None:
    (project / ".retrai.yml").write_text(f"{text}\n")
    assert name in claims(project)


def test_a_tool_that_the_user_removes_by_a_glob_is_not_given_back_unasked(
    own_folders: Path, project: Path
) -> None:
    user = own_folders / "config" / "retrai" / "config.yml"
    user.parent.mkdir(parents=True, exist_ok=True)
    user.write_text('tools: ["-git.*"]\n')
    (project / ".retrai.yml").write_text("tools: [git.push]\n")
    assert claims(project) == {"tools": ["git.push"]}


@pytest.mark.parametrize("change", ["made", "changed"])
def test_settings_that_a_killed_run_left_are_not_read(
    retrai, toy, project: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """Not even where they would be agreed to, or need nobody's leave."""
    monkeypatch.setenv("RETRAI_TRUST", "1")
    again = [*toy([("write_answer", {"text": "54"})]), "-n", "1"]
    path = project / ".retrai.yml"
    before = path.read_text() if change == "changed" else None
    if before is None:
        path.unlink()
    assert retrai(*again)[0] == 1
    (first,) = kept_runs()
    folder = FilesStore().folder(first.id)
    note(project, folder, [])  # as it stands while a run goes on
    path.write_text("max_iterations: 7\ngoal: no-such-goal\n")
    now = path.lstat().st_ctime_ns
    os.utime(folder / "left_behind.json", ns=(now, now))
    code, _, err = retrai(*again)
    assert code == 1, err
    assert f"{path.name}: " in err
    assert (path.read_text() if path.exists() else None) == before


def test_an_option_of_which_no_manifest_says_what_it_does_is_asked_about(
    stranger: list[str], project: Path
) -> None:
    (project / ".retrai.yml").write_text("goal: answer\nwanted: '41'\nunheard_of: 1\n")
    assert claims(project) == {"wanted": "41", "unheard_of": 1}


@pytest.mark.parametrize(
    "text",
    [
        "max_iteration: 5",
        "goal: answer\nmax_iteration: 5",
        "goal: ours\ngoals: {ours: {use: answer, max_iteration: 5}}",
        "plugins: {max_iteration: {a: 1}}",
    ],
)
def test_nobody_is_asked_to_agree_to_a_slip(
    retrai, stranger: list[str], project: Path, text: str
) -> None:
    (project / ".retrai.yml").write_text(f"{text}\nsandbox: local\n")
    code, _, err = retrai(*stranger)
    assert code == 2
    assert "max_iteration" in err.splitlines()[0]
    assert "--trust" not in err


def test_an_option_named_like_a_setting_hides_no_claim(project: Path) -> None:
    (project / ".retrai.yml").write_text("python: ./evil\noptions: {python: python3}\n")
    assert claims(project) == {"python": "./evil", "options.python": "python3"}


def test_a_narrowed_check_waits_for_a_yes(retrai, stranger: list[str], project: Path) -> None:
    (project / ".retrai.yml").write_text("goal: answer\nwanted: '41'\nmemory: none\n")
    code, out, err = retrai(*stranger)
    assert (code, out) == (2, "")
    assert 'wanted: "41"' in err
    assert "RETRAI_TRUST=1" in err
    assert not (project / "answer.txt").exists()


def test_the_settings_say_what_is_agreed_to(retrai, stranger: list[str], project: Path) -> None:
    _, out, _ = retrai("config", "show", "-C", project)
    assert "plugins, sandbox of .retrai.yml: not agreed to yet" in " ".join(out.split())
    _, out, _ = retrai("config", "show", "-C", project, "--json")
    assert json.loads(out)["sandbox"]["agreed"] is False
    assert "agreed" not in json.loads(out)["memory"]
    assert retrai(*stranger, "--trust")[0] == 0
    assert ".retrai.yml: agreed to" in retrai("config", "show", "-C", project)[1]
    (project / ".retrai.yml").write_text("memory: none\n")
    assert "agreed" not in retrai("config", "show", "-C", project)[1]


def test_what_a_flag_overrules_is_not_asked_about(project: Path) -> None:
    (project / ".retrai.yml").write_text("python: ./evil\ncheck_command: evil\n")
    flags = {"python": sys.executable, "options": {"check_command": "true"}}
    settings = load_settings(project, flags)
    assert claims_of(settings) == {}


def test_signs_that_a_terminal_would_hide_are_shown(
    retrai, stranger: list[str], project: Path
) -> None:
    (project / ".retrai.yml").write_text('python: "ok\\e[2K\\r\\u202eevil"\n')
    _, _, err = retrai(*stranger)
    assert r'python: "ok\u001b[2K\r\u202eevil"' in err


def test_what_init_wrote_for_the_user_is_agreed_to(
    retrai, stranger: list[str], project: Path, tmp_path: Path
) -> None:
    (project / ".retrai.yml").unlink()
    record = tmp_path / "record.jsonl"
    record.write_text("")
    code, _, err = retrai("init", "-C", project, "-m", f"replay:{record}")
    assert code == 0, err
    _, _, err = retrai("run", "-C", project)
    assert "run commands, redirect the run" not in err


def test_a_plugin_that_the_user_switches_off_here_is_the_users_own_word(
    retrai, stranger: list[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    (project / ".retrai.yml").write_text("memory: none\n")
    assert retrai("plugins", "disable", "shell", "--project")[0] == 0
    assert claims(project) == {}
    assert "run commands, redirect the run" not in retrai(*stranger)[2]
    (project / ".retrai.yml").write_text(SHELL)
    assert retrai("plugins", "disable", "greet", "--project")[0] == 0
    assert "run commands, redirect the run" in retrai(*stranger)[2], (
        "what else is there is not agreed to"
    )


@pytest.mark.parametrize(("answer", "code"), [(b"yes\n", 0), (b"\n", 2)])
def test_a_person_is_asked_on_a_terminal(
    stranger: list[str], project: Path, answer: bytes, code: int
) -> None:
    terminal, end = pty.openpty()
    try:
        os.write(terminal, answer)
        done = subprocess.run(
            [sys.executable, "-m", "retrai_core", *stranger],
            stdin=end,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(terminal)
        os.close(end)
    assert "plugins.shell" in done.stderr
    assert "Run it, now and until one of these changes?" in done.stderr
    assert done.returncode == code
    assert (project / "answer.txt").exists() == (code == 0)


def test_looking_needs_no_trust(retrai, stranger: list[str], project: Path) -> None:
    assert retrai("config", "show", "-C", project)[0] == 0
    assert retrai("plugins", "list")[0] == 0
    assert retrai("tools", "list")[0] == 0
