"""Shell scripts in `.bin` that pnpm writes in the place of links: which program one starts."""

from __future__ import annotations

import re
from pathlib import Path

from .lock_files import MODULES

MAX_BYTES = 20_000
_CYGPATH = r'basedir=`cygpath -w "\$basedir"`'
_FORM = re.compile(
    r"""\#!/bin/sh\n
    basedir=\$\(dirname[ ]"\$\(echo[ ]"\$0"[ ]\|[ ]sed[ ]-e[ ]'s,\\\\,/,g'\)"\)\n
    case[ ]`uname`[ ]in\n
    \*CYGWIN\*(?:\|\*MINGW\*\|\*MSYS\*)?\)(?:CONVERT|[ ]CYGPATH;;\n)
    esac\n
    (?:if[ ]\[[ ]-z[ ]"\$NODE_PATH"[ ]\];[ ]then\n
    export[ ]NODE_PATH="(?P<folders>[\w@./+:-]+)"\n
    else\n
    export[ ]NODE_PATH="(?P=folders):\$NODE_PATH"\n
    fi\n)?
    if[ ]\[[ ]-x[ ]"\$basedir/node"[ ]\];[ ]then\n
    exec[ ]"\$basedir/node"[ ]{1,2}"\$basedir/(?P<program>[\w@./+-]+)"[ ]"\$@"\n
    else\n
    exec[ ]node[ ]{1,2}"\$basedir/(?P=program)"[ ]"\$@"\n
    fi\n""".replace(
        "CONVERT",
        r"\nif[ ]command[ ]-v[ ]cygpath[ ]>[ ]/dev/null[ ]2>&1;[ ]then\nCYGPATH\nfi\n;;\n",
    ).replace("CYGPATH", _CYGPATH.replace(" ", "[ ]")),
    re.VERBOSE,
)
"""The script as a whole, without its empty lines and what lines are indented by."""


def started_by(path: Path, project: Path) -> str | None:
    """The program that such a script starts, relative to the script's folder.

    None where it is not that script from its first line to its last, or names a folder for packages
    that is not among the project's own.

    Args:
        path: the script.
        project: the project.
    """
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return None
        text = path.read_bytes().decode("utf-8")
    except (OSError, ValueError):
        return None
    # Only what a shell takes for the end of a line, and for indentation.
    lines = [line.strip(" \t") for line in text.split("\n")]
    form = _FORM.fullmatch("".join(f"{line}\n" for line in lines if line))
    if form is None:
        return None
    folders = form["folders"]
    if folders and not all(_is_own(folder, project) for folder in folders.split(":")):
        return None
    return form["program"]


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
