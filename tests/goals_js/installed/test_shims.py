"""A script that starts a package's program, as pnpm writes it, is told from any other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from retrai_goals_js.installed.shims import started_by

from .conftest import SCRIPT

OLDER = SCRIPT.replace(
    SCRIPT[SCRIPT.index("    *CYGWIN") : SCRIPT.index("esac")],
    '    *CYGWIN*) basedir=`cygpath -w "$basedir"`;;\n',
)


def started(project: Path, text: str) -> str | None:
    path = project / "tool"
    path.write_bytes(text.replace("HERE", str(project)).encode())
    return started_by(path, project)


@pytest.mark.parametrize(
    "script",
    [
        SCRIPT,
        OLDER,
        SCRIPT.replace("HERE/node_modules", "HERE/app/node_modules"),
        SCRIPT.replace(SCRIPT[SCRIPT.index("if [ -z") : SCRIPT.index('if [ -x "$b')], ""),
    ],
)
def test_the_program_is_found(script: str, tmp_path: Path) -> None:
    assert started(tmp_path, script) == "../tool/bin/tool.js"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("#!/bin/sh\n", "#!/bin/sh\nexit 0\n"),
        ("fi\n", "fi; exit 0\n"),
        ('exec node  "$basedir/../tool/bin/tool.js"', 'exec node  "$basedir/../tool/mine.js"'),
        ("HERE/node_modules/.pnpm/tool@1.0.0/node_modules", "/tmp/mine/node_modules"),
        ("HERE/node_modules/.pnpm", "HERE/node_modules/../mine/.pnpm"),
        ("HERE/node_modules/.pnpm", "HERE/.git/node_modules/.pnpm"),
        ("HERE/node_modules/.pnpm", "HERE/env/lib/node_modules/.pnpm"),
        ("HERE/node_modules/.pnpm", "$(touch mine)/node_modules"),
        ('tool.js" "$@"', 'tool.js" --version'),
        ("tool.js", "$(touch mine).js"),
        ("cygpath > /dev/null", "cygpath $(touch mine) > /dev/null"),
        (SCRIPT[SCRIPT.index("basedir=") : SCRIPT.index("\n\ncase")], ""),
        ('  exec node  "$basedir/../tool/bin/tool.js" "$@"\n', ""),
        ('  exec "$basedir/node"  "$basedir/../tool/bin/tool.js" "$@"\n', ""),
        ("esac\n", ""),
        ("#!/bin/sh\n", ""),
        ("#!/bin/sh\n", "#!/bin/sh\r\n"),
        ("else\n", "else\x0b\n"),
        ('if [ -z "$NODE_PATH" ]; then\n', 'if [ -x "$basedir/node" ]; then\n'),
    ],
)
def test_one_that_does_anything_else_starts_nothing_that_is_known(
    old: str, new: str, tmp_path: Path
) -> None:
    assert old in SCRIPT
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "pyvenv.cfg").touch()
    assert started(tmp_path, SCRIPT.replace(old, new, 1)) is None


def test_what_is_no_such_script_starts_nothing(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"\xff\xfe")
    (tmp_path / "long").write_text("\n" * 30_000, encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    names = ("data", "long", "missing", "pipe")
    assert [started_by(tmp_path / name, tmp_path) for name in names] == [None] * 4
