"""Whole runs: answers made for the visible tests fail on the held-out ones."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import GENERAL, HARD_CODED, HELD, Retrai

Tree = Callable[[Path], dict[str, bytes]]

LOOK: list[tuple[str, dict[str, Any]]] = [
    (
        "bash_exec",
        {
            "command": "ls -aR . | grep -v git; cat .retrai.yml; git status; git log -p --all;"
            "git rev-list --all --objects; git fsck --lost-found; grep -r S[m]all . ; true"
        },
    ),
    ("file_list", {"path": "tests"}),
    ("find_files", {"pattern": "**/*.py"}),
    ("grep_search", {"pattern": "S[m]all"}),
    ("git_diff", {}),
    ("file_read", {"path": ".git/index"}),
]
GUESS: list[tuple[str, dict[str, Any]]] = [
    ("file_read", {"path": "tests/concealed/test_unseen.py"}),
    ("file_list", {"path": "tests/concealed"}),
    ("file_write", {"path": "tests/concealed/test_unseen.py", "content": "mine"}),
    (
        "bash_exec",
        {"command": "mv tests t; cat */concealed/*; rm -rf tests; echo mine > tests/concealed/x"},
    ),
]


def write(source: str) -> list[tuple[str, dict[str, Any]]]:
    return [("file_write", {"path": "slug.py", "content": source})]


def commit(project: Path) -> None:
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all of it"]):
        who = ["-c", "user.name=Jo", "-c", "user.email=jo@example.com"]
        subprocess.run(["git", *who, *words], cwd=project, check=True, timeout=60)


@pytest.mark.usefixtures("walls")
def test_answers_made_for_the_visible_tests_fail_and_nothing_is_told_of_the_others(
    command_line: Retrai, project: Path, tree: Tree
) -> None:
    command_line.configure('holdout: ["tests/concealed/**"]')
    commit(project)
    before = tree(project)
    record = command_line.record(LOOK, write(HARD_CODED), [("bash_exec", {"command": "true"})])
    assert (record["status"], record["exit_code"]) == ("failed", 1)
    assert record["reason"].endswith("; 1 of 2 held-out cases fail")
    assert record["goals"][0]["held_out"] == {"total": 2, "failed": 1}
    told = command_line.told(record)
    for name in ("Small Dog", "test_other_words", "test_unseen", "concealed"):
        assert name not in told, name
    shell = command_line.results(record)[0]
    assert "The project before the run" in shell
    assert "test_slug.py" in shell
    assert tree(project) == before | {"slug.py": HARD_CODED.encode()}
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=project, capture_output=True, text=True, check=True
    )
    assert status.stdout == " M slug.py\n"


@pytest.mark.usefixtures("walls")
def test_a_model_that_knows_the_names_comes_no_further(
    command_line: Retrai, project: Path, tree: Tree
) -> None:
    command_line.configure('holdout: ["tests/concealed/**"]')
    before = tree(project)
    record = command_line.record(GUESS, write(GENERAL), [("bash_exec", {"command": "true"})])
    assert "Small" not in "".join(command_line.results(record))
    assert tree(project)["tests/concealed/test_unseen.py"] == HELD.encode()
    assert tree(project) == before | {"slug.py": GENERAL.encode()}


@pytest.mark.usefixtures("walls")
def test_a_general_answer_is_achieved(command_line: Retrai, project: Path, tree: Tree) -> None:
    command_line.configure('holdout: ["tests/concealed/**"]')
    commit(project)
    before = tree(project)
    record = command_line.record(write(GENERAL))
    assert record["status"] == "achieved", record["reason"]
    assert record["goals"][0]["held_out"] == {"total": 2, "failed": 0}
    assert record["reason"].endswith("all 2 held-out cases pass")
    assert record["changed_files"] == ["slug.py"]
    assert tree(project) == before | {"slug.py": GENERAL.encode()}
    verified = command_line.retrai("verify", record["id"])
    assert verified.returncode == 0, verified.stdout + verified.stderr
    done = command_line.retrai("runs", "undo", record["id"])
    assert done.returncode == 0, done.stderr
    assert tree(project) == before


@pytest.mark.parametrize(("source", "status"), [(HARD_CODED, "failed"), (GENERAL, "achieved")])
def test_files_that_lie_outside_the_project_are_laid_over_the_copy(
    command_line: Retrai, project: Path, tmp_path: Path, source: str, status: str
) -> None:
    outside = tmp_path / "mine" / "tests" / "concealed"
    outside.mkdir(parents=True)
    (project / "tests" / "concealed" / "test_unseen.py").rename(outside / "test_unseen.py")
    commit(project)
    command_line.configure(f'sandbox: local\nholdout: ["{tmp_path}/mine"]')
    record = command_line.record(write(source))
    assert record["status"] == status, record["reason"]
    assert record["goals"][0]["held_out"]["total"] == 2
    assert not (project / "tests" / "concealed" / "test_unseen.py").exists()
    assert (outside / "test_unseen.py").read_text() == HELD


def test_a_sandbox_without_walls_is_refused_for_files_of_the_project(
    command_line: Retrai, project: Path, tree: Tree
) -> None:
    command_line.configure('sandbox: local\nholdout: ["tests/concealed/**"]')
    before = tree(project)
    done = command_line.retrai(*command_line.command(write(GENERAL)))
    assert (done.returncode, done.stdout) == (2, "")
    assert "test_unseen.py lies in the project" in done.stderr
    assert "pip install retrai-sandbox-bwrap" in done.stderr
    assert "outside the project" in done.stderr
    assert tree(project) == before


@pytest.mark.usefixtures("walls")
@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ('holdout: ["tests/nothing/**"]', "means no file of the project"),
        ('holdout: ["/nowhere/at/all"]', "holds no files"),
        ('holdout: ["tests/concealed/**"]\ntargets: [tests/test_slug.py]', "finds no case"),
        ('holdout: ["tests/test_slug.py"]', "a folder of their own"),
    ],
)
def test_a_holdout_that_holds_nothing_out_is_a_usage_error(
    command_line: Retrai, project: Path, tree: Tree, setting: str, said: str
) -> None:
    command_line.configure(setting)
    before = tree(project)
    done = command_line.retrai(*command_line.command(write(GENERAL)))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert tree(project) == before


@pytest.mark.usefixtures("walls")
def test_a_killed_run_loses_nothing_and_can_be_resumed(
    command_line: Retrai, project: Path, tree: Tree
) -> None:
    command_line.configure('holdout: ["tests/concealed/**"]')
    before = tree(project)
    fifo = project / "started"
    os.mkfifo(fifo)
    wait = [("bash_exec", {"command": "echo go > started; exec sleep 1000"})]
    words = command_line.command(wait, write(GENERAL), write(GENERAL))
    run = subprocess.Popen(
        [sys.executable, "-m", "retrai_core", *words],
        env=command_line.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with open(os.open(fifo, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as file:
            assert select.select([file], [], [], 90)[0], "the run did not come that far"
        run.send_signal(signal.SIGKILL)
    finally:
        run.kill()
        run.wait(timeout=30)
    fifo.unlink()
    listed = command_line.retrai("runs", "list", "--json")
    assert tree(project) == before
    (killed,) = json.loads(listed.stdout)
    done = command_line.retrai("runs", "resume", killed["id"], "--json")
    record = json.loads(done.stdout)
    assert record["status"] == "achieved", record["reason"]
    assert record["goals"][0]["held_out"] == {"total": 2, "failed": 0}
    assert tree(project) == before | {"slug.py": GENERAL.encode()}
