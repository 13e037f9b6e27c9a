"""Which calls the rules of `permissions:` let through."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrai_core import ToolCall
from retrai_permissions.gate import PermissionGate
from retrai_permissions.shell_commands import commands_of, does_more_than_run


def verdict(section: dict[str, Any], tool: str, needs: str = "run", **args: Any) -> str:
    """What the gate says of a call; `-` for no opinion."""
    call = ToolCall("1", tool, args, frozenset(needs.split()))
    context: Any = SimpleNamespace(permissions=section)
    decision = PermissionGate().before_tool(call, context)
    return "-" if decision is None else decision.verdict


DENY_RM = {"deny": ["bash_exec: rm -rf"]}


@pytest.mark.parametrize(
    "line",
    [
        "rm -rf build",
        "ls && rm -rf build",
        "ls\nrm -rf build",
        "ls; (cd x; rm -rf build)",
        "echo $(rm -rf build)",
        "echo `rm -rf build`",
        'echo "now $(rm -rf build)"',
        "X=$(rm -rf build) true",
        r"r\m -rf build",
        "'r'm \"-rf\" build",
        "$'rm' -rf build",
        "/bin/rm -rf build",
        "env A=1 rm -rf build",
        "sudo -u x rm -rf build",
        "find . -name x -exec rm -rf {} +",
        "ls | xargs rm -rf",
        "bash -c 'rm -rf build'",
        'sh -ec "ls; rm -rf build"',
        "eval 'rm -rf build'",
        "eval rm -rf build",
        "bash -c \"bash -c 'rm -rf build'\"",
        "if true; then rm -rf build; fi",
        "for i in 1 2; do rm -rf $i; done",
        "f() { rm -rf build; }; f",
        "cat <<EOF\n$(rm -rf build)\nEOF",
        "! rm -rf build",
        "rm -rf build > log 2>&1",
        "A=1 rm -rf build &",
        "$COMMAND -rf build",
        "${X}m -rf build",
        "rm $FLAGS build",
        "eval $LINE",
        "bash script.sh",
        "echo 'rm -rf build' | sh",
        "bash <<< 'rm -rf build'",
        "rm -rf 'build",
        "coproc rm -rf build",
        "cat <(rm -rf build)",
        "[[ -d x ]] && rm -rf build",
        "case x in x) rm -rf build;; esac",
        "time rm -rf build",
        "trap 'rm -rf build' EXIT; rm -rf build",
    ],
)
def test_a_denied_command_is_found_wherever_it_stands(line: str) -> None:
    assert verdict(DENY_RM, "bash_exec", command=line) == "deny"


@pytest.mark.parametrize(
    "line",
    [
        "rm build/a.txt",
        "echo 'rm -rf build'",
        "grep -n 'rm -rf' Makefile",
        "ls # rm -rf build",
        "python -m pytest -q",
        "cat <<'EOF'\nrm -rf build\nEOF",
        "git commit -m 'stop using rm -rf'",
    ],
)
def test_words_that_only_look_like_the_command_are_let_through(line: str) -> None:
    assert verdict(DENY_RM, "bash_exec", command=line) == "allow"


def test_deny_beats_ask_and_ask_beats_allow() -> None:
    section = {
        "allow": ["bash_exec: git *"],
        "ask": ["bash_exec: git push"],
        "deny": ["bash_exec: git push --force"],
        "default": "deny",
    }
    assert verdict(section, "bash_exec", command="git status") == "allow"
    assert verdict(section, "bash_exec", command="git push origin main") == "ask"
    assert verdict(section, "bash_exec", command="git push --force origin") == "deny"
    assert verdict(section, "bash_exec", command="ls") == "deny"


def test_with_a_strict_default_every_command_of_a_line_must_be_allowed() -> None:
    section = {"allow": ["bash_exec: git *", "bash_exec: ls"], "default": "deny"}
    assert verdict(section, "bash_exec", command="ls && git status") == "allow"
    for line in ("ls && curl x", "ls $(curl x)", "git $X; curl x", "$X status", "ls 'x", "./ls"):
        assert verdict(section, "bash_exec", command=line) == "deny"


def test_an_allowed_name_allows_neither_writing_a_file_nor_setting_a_variable() -> None:
    section = {"allow": ["bash_exec: git *", "bash_exec: echo"], "default": "deny"}
    for line in (
        "git status 2>&1",
        "git log > /dev/null",
        "git apply < change.patch",
        "echo x >&2",
    ):
        assert verdict(section, "bash_exec", command=line) == "allow"
    for line in (
        "echo x > ~/.bashrc",
        "echo x >> tests/test_a.py",
        "git log &> out",
        "PATH=/tmp/mine:$PATH git status",
        "GIT_EXTERNAL_DIFF=./mine git diff",
        "export LD_PRELOAD=./mine.so; git status",
    ):
        assert verdict(section, "bash_exec", command=line) == "deny"
    assert verdict(section | {"allow": ["bash_exec"]}, "bash_exec", command="a=1 b > c") == "allow"


def test_paths_are_matched_for_tools_that_have_one() -> None:
    section = {"deny": ["file_*: *.lock", "file_write: secrets/*"]}
    assert verdict(section, "file_write", path="uv.lock", content="") == "deny"
    assert verdict(section, "file_write", path="./secrets/key", content="") == "deny"
    assert verdict(section, "file_read", path="src/a.py") == "allow"


def test_a_need_can_be_ruled_on() -> None:
    assert verdict({"deny": ["needs:network"]}, "web_fetch", needs="network", url="x") == "deny"
    assert verdict({"deny": ["needs:network"]}, "file_read", needs="read", path="x") == "allow"


def test_without_a_section_there_is_no_opinion() -> None:
    assert verdict({}, "bash_exec", command="rm -rf /") == "-"


@given(st.text())
def test_any_line_gives_an_answer(line: str) -> None:
    assert verdict(DENY_RM, "bash_exec", command=line) in ("allow", "deny")


@given(
    before=st.sampled_from(["ls", "true", "cd x", "X=1"]),
    joint=st.sampled_from([" && ", "; ", " | ", "\n", " || ", " & "]),
    quote=st.sampled_from(["rm", "'rm'", '"rm"', r"\rm", "r''m", "/bin/rm"]),
)
def test_no_joint_and_no_quoting_hides_a_command(before: str, joint: str, quote: str) -> None:
    assert verdict(DENY_RM, "bash_exec", command=f"{before}{joint}{quote} -rf x") == "deny"


def test_a_script_in_a_script_in_a_script_ends() -> None:
    line = "rm -rf x"
    for _ in range(12):
        line = "bash -c " + "'" + line.replace("'", "'\\''") + "'"
    assert () in commands_of(line)


def test_words_in_any_script_are_read_as_they_stand() -> None:
    section = {"deny": ["bash_exec: rm übung", "bash_exec: 删除"]}
    for line in ("rm übung", "cd 目录 && rm übung", "rm 'übung'", "echo ok; 删除 \U0010fffd"):
        assert verdict(section, "bash_exec", command=line) == "deny", line
    assert verdict(section, "bash_exec", command="rm ubung; echo 删") == "allow"


def test_letters_beyond_ascii_neither_name_variables_nor_end_here_documents() -> None:
    # To bash `é=1` is the name of a program, not an assignment before `cat`.
    assert [[word.text for word in command] for command in commands_of("é=1 cat")] == [
        ["é=1", "cat"]
    ]
    assert verdict(DENY_RM, "bash_exec", command="cat <<é\nx\né\nrm -rf x") == "deny"


@pytest.mark.parametrize(
    "line",
    [
        "cat <<é\nü\ncat <<X\né\nrm -rf x\nX\n",
        "cat <<'é'\nü\necho '\né\nrm -rf x\necho '\n",
        "cat <<END\nEND; cat <<Y\nEND\nrm -rf x\nY\n",
        "cat <<END\n\tEND\ncat <<Y\nEND\nrm -rf x\nY\n",
    ],
)
def test_a_line_that_looks_like_the_end_of_a_here_document_hides_nothing(line: str) -> None:
    allow = {"allow": ["bash_exec: cat *", "bash_exec: echo *"], "default": "deny"}
    assert verdict(DENY_RM, "bash_exec", command=line) == "deny"
    assert verdict(allow, "bash_exec", command=line) == "deny"


def test_a_number_in_other_digits_names_a_file() -> None:
    assert does_more_than_run("echo x >&٣")
    assert not does_more_than_run("echo x >&2")


@pytest.mark.parametrize(
    "line",
    ["cat <<é\nhallo\né", "cat <<'a b'\nx\na b\n", "cat <<\\E\na\nE\n", "cat <<-E\n\ta\n\tE\n"],
)
def test_a_whole_here_document_is_read(line: str) -> None:
    assert [[word.text for word in command] for command in commands_of(line)] == [["cat"]]


LINES = """
import random
from retrai_permissions.shell_commands import commands_of

chosen = random.Random(21)
for _ in range(12_000):
    line = ""
    for _ in range(chosen.randint(1, 30)):
        line += chosen.choice("{}$<=([ x\\n")
        line += chr(chosen.choice([0x41, 0xE000, 0x10000, 0xFFFFF]) + chosen.randint(0, 0xFFF0))
    commands_of(line.encode("utf-8", "ignore").decode())
"""


def test_no_character_ends_the_process() -> None:
    """The grammar's scanner reads beyond its tables for some, which no `except` can catch."""
    done = subprocess.run([sys.executable, "-c", LINES], timeout=120, check=False)
    assert done.returncode == 0


def test_lines_are_read_from_several_threads_at_once() -> None:
    lines = [f"cd x{number} && rm -rf 'a b' $(ls {number}) | tee y" for number in range(200)]
    expected = [commands_of(line) for line in lines]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(commands_of, lines * 3)) == expected * 3
