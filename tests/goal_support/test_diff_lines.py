"""No character in a file's text or name hides a line of a diff."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrai_goal_support import Trick, audit_lines, changed_lines

ENDS = [Trick(re.compile(r"exit\(0\)"), "ends the process", reaches_runner=True)]


@pytest.mark.parametrize("separator", ["\f", "\v", "\x1c", "\x85", "\u2028", "\r"])
def test_what_ends_no_line_of_a_diff_hides_nothing(separator: str) -> None:
    diff = f"--- a/x.js\n+++ b/x.js\n@@ -0,0 +1 @@\n+a(){separator}exit(0)\n"
    found = audit_lines(diff, ENDS, is_source=lambda path: path == "x.js")
    assert [(one.path, one.line, one.reaches_runner) for one in found] == [("x.js", 1, True)]


@pytest.mark.parametrize("name", ["käse.js", 'a "b".js', "tab\there.js", "plain.js"])
def test_git_names_every_file_as_it_is_called(tmp_path: Path, name: str) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / name).write_text("exit(0)\n")
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
    command = ["git", "-c", "core.quotePath=true", "diff", "--cached"]
    diff = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert list(changed_lines(diff)) == [("+", name, 1, "exit(0)")]


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))))
def test_every_added_line_is_seen(lines: list[str]) -> None:
    head = f"--- /dev/null\n+++ b/x.py\n@@ -0,0 +1,{len(lines)} @@\n"
    diff = head + "".join(f"+{line}\n" for line in lines)
    assert [text for _, _, _, text in changed_lines(diff)] == lines
