"""Shell scripts in `.bin` that pnpm writes in the place of links: which program one starts."""

from __future__ import annotations

import re
from pathlib import Path

from .lock_files import MODULES

MAX_BYTES = 20_000
_PLAIN = (
    re.compile(
        r"#!/bin/sh|\s*|else|fi|esac|case `uname` in|;;"
        r"|if command -v cygpath > /dev/null 2>&1; then"
    ),
    re.compile(r"""basedir=\$\(dirname "\$\(echo "\$0" \| sed -e 's,\\\\,/,g'\)"\)"""),
    re.compile(
        r"""(?:\*(?:CYGWIN|MINGW|MSYS)\*\|?)*\)?\s*(?:basedir=`cygpath -w "\$basedir"`)?(?:;;)?"""
    ),
    re.compile(r'if \[ -z "\$NODE_PATH" \]; then|if \[ -x "\$basedir/node" \]; then'),
)
_FOLDERS = re.compile(r'export NODE_PATH="([\w@./+:-]+)(?::\$NODE_PATH)?"')
_START = re.compile(r'exec (?:node|"\$basedir/node")  ?"\$basedir/([\w@./+-]+)" "\$@"')


def started_by(path: Path, project: Path) -> str | None:
    """The program that such a script starts, relative to the script's folder.

    None where any line of it does something else, or names a folder for packages that is not
    among the project's own.

    Args:
        path: the script.
        project: the project.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        text = path.read_text("utf-8")
    except (OSError, ValueError):
        return None
    started: set[str] = set()
    for line in (each.strip() for each in text.splitlines()):
        if start := _START.fullmatch(line):
            started.add(start[1])
        elif folders := _FOLDERS.fullmatch(line):
            if not all(_is_own(folder, project) for folder in folders[1].split(":")):
                return None
        elif not any(pattern.fullmatch(line) for pattern in _PLAIN):
            return None
    return started.pop() if len(started) == 1 else None


def _is_own(folder: str, project: Path) -> bool:
    if not folder.startswith(f"{project}/"):
        return False
    parts = Path(folder).parts[len(project.parts) :]
    if ".." in parts or parts[-1] != MODULES:
        return False
    above = parts[: parts.index(MODULES)]
    # Nobody looks for packages in `.git`, nor in an environment of Python.
    return not any(
        name.startswith(".") or project.joinpath(*above[: at + 1], "pyvenv.cfg").exists()
        for at, name in enumerate(above)
    )
