"""Paths of the recorded project become paths of this one, and no other text changes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrai_core import AgentEvent
from retrai_llm_replay.path_prefix import PathPrefix
from retrai_llm_replay.shell_quoting import places

HERE = PathPrefix(["/testbed"], Path("/home/me/app"))


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ("cd /testbed && ls", "cd /home/me/app && ls"),
        ("cat /testbed/src/a.py", "cat /home/me/app/src/a.py"),
        ("ls /testbed/", "ls /home/me/app/"),
        ("cc -I/testbed/include --root=/testbed", "cc -I/home/me/app/include --root=/home/me/app"),
        ("PYTHONPATH=/testbed:/testbed/src x", "PYTHONPATH=/home/me/app:/home/me/app/src x"),
        ("python -c \"open('/testbed/a')\"", "python -c \"open('/home/me/app/a')\""),
        ("pip install file:///testbed", "pip install file:///home/me/app"),
        ("echo see /testbed.", "echo see /home/me/app."),
    ],
)
def test_the_prefix_is_replaced_where_it_is_a_path_of_its_own(recorded: str, expected: str) -> None:
    assert HERE.in_shell(recorded) == expected


@pytest.mark.parametrize(
    "command",
    [
        "ls /testbed2 /testbed-old /testbed.bak /testbed_x",
        "ls /data/testbed ./testbed ../testbed ~/testbed $HOME/testbed ${HOME}/testbed",
        "git log testbed",
        "",
    ],
)
def test_longer_names_and_other_folders_stay(command: str) -> None:
    assert HERE.in_shell(command) == command


def test_a_file_argument_becomes_relative_and_a_text_keeps_its_meaning() -> None:
    args = {
        "path": "/testbed/src/a.py",
        "folder": "/testbed",
        "paths": ["/testbed/b.py", "c.py"],
        "content": 'ROOT = "/testbed/data"\n',
        "line": 3,
    }
    assert HERE.in_arguments(args, shell=False) == {
        "path": "src/a.py",
        "folder": ".",
        "paths": ["b.py", "c.py"],
        "content": 'ROOT = "/home/me/app/data"\n',
        "line": 3,
    }


AWKWARD = [
    "with space",
    "Ünïcödé 日本",
    "it's",
    'quo"te',
    "dollar $HOME",
    "back\\slash",
    "tick `id`",
    "semi;colon & (more)",
]
LINES = [
    "cat /testbed/f",
    'cat "/testbed/f"',
    "cat '/testbed/f'",
    "cd /testbed && cat f",
    "# don't trip over /testbed's comment\ncat /testbed/f",
    "cat <<'EOF' > /dev/null\n/testbed isn't quoted\nEOF\ncat /testbed/f",
    "cat <<-EOF | xargs -d '\\n' cat\n\t/testbed/f\n\tEOF",
    'cat <<< "it" > /dev/null; cat "/testbed/f"',
]


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("line", LINES)
def test_the_shell_finds_a_project_with_an_awkward_path(
    tmp_path: Path, name: str, line: str
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "f").write_text("found\n", encoding="utf-8")
    command = PathPrefix(["/testbed"], folder).in_shell(line)
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, timeout=20
    )
    assert (done.stdout, done.stderr) == ("found\n", ""), command


@settings(max_examples=60)
@given(name=st.text(st.characters(exclude_characters="/\x00\n\r", codec="utf-8"), min_size=1))
def test_any_folder_name_reaches_the_shell_unchanged(name: str) -> None:
    project = Path("/p") / name
    command = PathPrefix(["/testbed"], project).in_shell(
        "printf '%s\\n' /testbed \"/testbed\" '/testbed'\n"
        "cat <<'A'\n/testbed\nA\n"
        "cat <<B\n/testbed\nB"
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True, timeout=20)
    assert done.stdout == os.fsencode(f"{project}\n") * 5


@given(command=st.text(st.sampled_from("ab '\"\\\n<-#$`E")))
def test_every_character_of_any_shell_line_has_a_place(command: str) -> None:
    assert len(places(command)) == len(command)


async def test_a_run_log_brings_its_own_project_path(
    model_of: Callable[..., Any], write_run: Callable[..., Path], project: Path
) -> None:
    call = {"id": "a", "name": "bash_exec", "args": {"command": "ls /old/place/src /testbed"}}
    folder = write_run(
        [AgentEvent("llm_usage", "r0", 0, {"text": "", "tool_calls": [call]})],
        recorded_project="/old/place",
    )
    answer = await model_of(folder).ainvoke("go")
    assert answer.tool_calls[0]["args"]["command"] == f"ls {project}/src /testbed"


async def test_the_users_prefixes_come_before_the_records(
    model_of: Callable[..., Any], write_trajectory: Callable[..., Path], project: Path
) -> None:
    record = write_trajectory("ls /repo /testbed")
    answer = await model_of(record, path_prefixes=["/repo"]).ainvoke("go")
    assert answer.tool_calls[0]["args"]["command"] == f"ls {project} /testbed"
