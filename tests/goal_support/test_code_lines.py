"""Only what a program runs makes a change suspect, and nothing that it runs is taken for prose."""

from __future__ import annotations

import io
import subprocess
import tokenize
from pathlib import Path

import pytest

from retrai_goal_support import Trick, audit_lines
from retrai_goal_support.code_lines import code_lines

ENDS = [
    Trick.reaching(r"\bexit\(", "ends the process"),
    Trick.reaching(r"if hurry:[\s\S]*?quit\(", "ends the process", lines=4),
]
ROOT = Path(__file__).resolve().parents[2]


def _is_suspect(folder: Path, name: str, text: str) -> bool:
    (folder / name).write_bytes(text.encode())
    command = ["git", "diff", "--no-index", "--no-color", "/dev/null", name]
    diff = subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout.decode()
    found = audit_lines(diff, ENDS, is_source=lambda path: True, project=folder)
    assert found, "nothing is told"
    return any(each.reaches_runner for each in found)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "a = 1  # never exit() here\n"),
        ("a.py", "# -*- coding: utf-8 -*-\ntext = 'ä'  # never exit() here\n"),
        ("a.py", "a = 1\r\n# exit()\r\n"),
    ],
)
def test_a_comment_is_told_and_suspects_nothing(tmp_path: Path, name: str, text: str) -> None:
    assert not _is_suspect(tmp_path, name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "a = 1; exit()  # no\n"),
        ("a.py", "'''no'''; exit()\n"),
        ("a.py", "exec('''\n# no\nexit()\n''')\n"),
        ("a.py", 'def f():\n    """exit()"""\n'),
        ("a.py", 'def f():\n    """Not exit()!"""\nexec(f.__doc__[4:])\n'),
        ("a.py", 'def f():\n    """Ends.\n\n    >>> exit()\n    """\n'),
        ("a.py", "# -*- coding: utf-7 -*-\n# no +AAo-exit()\n"),
        ("a.py", "# no\rexit()\r# no\n"),
        ("a.py", "# no\rx = 1\n# no\nexit()\n"),
        ("a.py", "if hurry:\n    # no\n    quit()\n"),
        ("a.py", "def f(:\n# exit()\n"),
        ("a.py", "y = f(:)\nx = '#'; exit()\n"),
        ("a.py", "if hurry:\n    go()\n    quit()  # no\n"),
        ("a.js", "a() // no\n; exit()\n"),
        ("a.js", "/* no */ exit()\n"),
        ("a.py", "x = (8\n// exit())\n"),
    ],
)
def test_what_may_run_is_suspect(tmp_path: Path, name: str, text: str) -> None:
    assert _is_suspect(tmp_path, name, text)


@pytest.mark.parametrize("folder", ["retrai_core/src/retrai_core/verification", "retrai_goals_js"])
def test_no_code_is_lost(folder: str) -> None:
    for path in (ROOT / folder).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        lines = code_lines(path.name, text)
        assert [len(line) for line in lines] == [len(line) for line in text.split("\n")]
        assert [*_code(text)] == [*_code("\n".join(lines))], path


def _code(text: str) -> list[tuple[int, str]]:
    """The tokens of a text by line, without comments."""
    nothing = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [(token.start[0], token.string) for token in tokens if token.type not in nothing]
