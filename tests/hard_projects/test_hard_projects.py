"""Each hard project ends with a clear outcome, and nothing is left running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MakeProject = Callable[..., Path]
LOOK = ("bash_exec", {"command": "ls"})
CODE = {"adding.py": "def add(a, b):\n    return a - b\n"}
TEST = "from adding import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
MEND = ("bash_exec", {"command": "sed -i 's/a - b/a + b/' adding.py"})

HANGING = """
import subprocess, sys, time

def test_hangs():
    # A daemon that leaves the process group, as a test server might.
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    time.sleep(600)
"""

PRINTING = """
import os

def test_prints():
    line = b"x" * 999 + b"\\n"
    for _ in range(50_000):
        os.write(1, line)
    assert False, "after 50 MB"
"""


def test_a_daemon_would_be_found(retrai: Any) -> None:
    # What every other test here relies on when it finds nothing left running.
    daemon = "import os, time; os.fork() and os._exit(0); os.setsid(); time.sleep(60)"
    started = time.time()
    command = [sys.executable, "-c", daemon]
    subprocess.run(command, cwd=retrai.room, stdout=subprocess.DEVNULL, check=True)
    (found,) = retrai.leftovers(started, timeout_s=0.1)
    os.kill(int(found.split(":")[0]), signal.SIGKILL)
    assert "time.sleep(60)" in found
    assert retrai.leftovers(started) == []


def test_tests_that_hang_are_ended(retrai: Any, make_project: MakeProject) -> None:
    ended = retrai.run(make_project({"test_it.py": HANGING}), LOOK, options={"timeout_s": 3})
    assert ended.outcome == (1, "failed")
    assert "3 s" in ended.record["reason"]
    assert ended.leftovers == []


def test_a_project_without_tests_says_so(retrai: Any, make_project: MakeProject) -> None:
    ended = retrai.run(make_project(CODE), LOOK)
    assert ended.outcome == (1, "failed")
    assert "no tests were collected" in ended.record["reason"]
    assert ended.leftovers == []


def test_a_syntax_error_is_shown_and_can_be_mended(retrai: Any, make_project: MakeProject) -> None:
    project = make_project({"adding.py": "def add(a, b:\n    return a + b\n", "test_it.py": TEST})
    fix = ("bash_exec", {"command": "sed -i 's/(a, b:/(a, b):/' adding.py"})
    ended = retrai.run(project, LOOK, fix)
    assert ended.outcome == (0, "achieved")
    first = next(event for event in ended.events if event["kind"] == "goal_check")
    assert "SyntaxError" in first["payload"]["details"]
    assert "adding.py" in first["payload"]["details"]
    assert ended.record["goals"][0]["after"]["counts"] == {"passed": 1}
    assert ended.leftovers == []


def test_a_syntax_error_in_the_tests_is_shown(retrai: Any, make_project: MakeProject) -> None:
    project = make_project({**CODE, "test_it.py": "def test_add(:\n", "test_ok.py": TEST})
    ended = retrai.run(project, MEND)
    assert ended.outcome == (1, "failed")
    last = [event for event in ended.events if event["kind"] == "goal_check"][-1]
    assert "SyntaxError" in last["payload"]["details"]
    assert ended.leftovers == []


def test_three_thousand_tests_are_all_counted(retrai: Any, make_project: MakeProject) -> None:
    many = (
        "import pytest\nfrom adding import add\n\n\n"
        "@pytest.mark.parametrize('number', range(3000))\n"
        "def test_add(number):\n    assert add(number, 1) == number + 1\n"
    )
    wrong_for_every_tenth = "def add(a, b):\n    return a + b if a % 10 else 0\n"
    project = make_project({"adding.py": wrong_for_every_tenth, "test_it.py": many})
    fix = ("bash_exec", {"command": "sed -i 's/ if a % 10 else 0//' adding.py"})
    ended = retrai.run(project, fix)
    assert ended.outcome == (0, "achieved")
    assert ended.record["goals"][0]["before"]["counts"] == {"failed": 300, "passed": 2700}
    assert ended.record["goals"][0]["after"]["counts"] == {"passed": 3000}
    # What the model reads of 300 failures fits into a prompt.
    checks = [event["payload"] for event in ended.events if event["kind"] == "goal_check"]
    assert max(len(check["details"]) for check in checks) < 60_000
    assert ended.leftovers == []


def test_fifty_megabytes_of_output_stay_out_of_the_run(
    retrai: Any, make_project: MakeProject
) -> None:
    project = make_project({"test_it.py": PRINTING})
    shout = f"{sys.executable} -c \"print('y' * 50_000_000)\""
    ended = retrai.run(project, ("bash_exec", {"command": shout}))
    assert ended.outcome == (1, "failed")
    assert "1 of 1 test fails" in ended.record["reason"]
    (result,) = ended.results_of("bash_exec")
    assert len(result["content"]) < 10_000
    kept = sum(path.stat().st_size for path in retrai.room.rglob("runs/*/*") if path.is_file())
    assert kept < 1_000_000
    assert ended.leftovers == []


def test_a_path_with_blanks_and_other_letters(retrai: Any, make_project: MakeProject) -> None:
    project = make_project({**CODE, "test_it.py": TEST}, name="mein Projekt – 'ü' 日本")
    fix = ("bash_exec", {"command": "cd /testbed && sed -i 's/a - b/a + b/' /testbed/adding.py"})
    ended = retrai.run(project, fix)
    assert ended.outcome == (0, "achieved")
    assert ended.record["changed_files"] == ["adding.py"]
    assert ended.leftovers == []


def test_a_project_without_git(retrai: Any, make_project: MakeProject) -> None:
    project = make_project({**CODE, "test_it.py": TEST})
    inside = subprocess.run(
        ["git", "rev-parse"], cwd=project, capture_output=True, check=False
    ).returncode
    assert inside != 0, "the temporary folder lies inside a git repository"
    ended = retrai.run(project, ("git_diff", {}), MEND)
    (answer,) = ended.results_of("git_diff")
    assert answer["content"]
    assert ended.outcome == (0, "achieved")
    assert ended.leftovers == []


def test_a_call_of_a_tool_that_this_run_does_not_have(
    retrai: Any, make_project: MakeProject
) -> None:
    project = make_project({**CODE, "test_it.py": TEST})
    ended = retrai.run(project, ("open_browser", {"url": "x"}), MEND)
    (answer,) = ended.results_of("open_browser")
    assert answer["error"]
    assert ended.outcome == (0, "achieved")


def test_a_used_up_record_ends_the_run(retrai: Any, make_project: MakeProject) -> None:
    project = make_project({**CODE, "test_it.py": TEST})
    record = retrai.record(LOOK)
    command = [sys.executable, "-m", "retrai_core", "run", "pytest", "-C", str(project), "--json"]
    done = subprocess.run(
        [*command, "-m", f"replay:{record}", "-n", "40"],
        env=retrai.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    printed = json.loads(done.stdout)
    assert (done.returncode, printed["status"]) == (1, "failed")
    assert "used up" in printed["reason"]
    assert printed["iterations"] < 10


def read_only_project(folder: Path, code: str, ini_text: str) -> Path:
    files = {"pytest.ini": ini_text, "adding.py": code, "test_it.py": TEST}
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o444)
    folder.chmod(0o555)
    return folder


def test_a_read_only_project_that_fails(
    ordinary_retrai: Any, tmp_path: Path, ini_text: str
) -> None:
    project = read_only_project(tmp_path / "project", CODE["adding.py"], ini_text)
    write = ("file_write", {"path": "adding.py", "content": "def add(a, b):\n    return 5\n"})
    ended = ordinary_retrai.run(project, write, MEND)
    project.chmod(0o755)
    assert ended.outcome == (1, "failed")
    assert "1 of 1 test fails" in ended.record["reason"]
    assert [result["error"] for result in ended.results_of("file_write")] == [True]
    assert sorted(os.listdir(project)) == ["adding.py", "pytest.ini", "test_it.py"]
    assert ended.leftovers == []


def test_a_read_only_project_that_works(
    ordinary_retrai: Any, tmp_path: Path, ini_text: str
) -> None:
    project = read_only_project(tmp_path / "project", CODE["adding.py"].replace("-", "+"), ini_text)
    ended = ordinary_retrai.run(project, LOOK)
    project.chmod(0o755)
    assert ended.outcome == (0, "achieved")
    assert sorted(os.listdir(project)) == ["adding.py", "pytest.ini", "test_it.py"]
    assert ended.leftovers == []
