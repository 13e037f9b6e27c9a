"""What lies in the project's own environment and decides what a command does: programs, start-up.

A command finds programs in the environment's `bin` before the system's, and Python runs some files
there before anything else.
"""

from __future__ import annotations

from pathlib import Path

from retrai_core import Environment
from retrai_goal_support import text_of

RUNNERS = ("pytest", "_pytest", "pluggy", "nose2", "unittest2", "coverage", "tox")
"""Packages that run checks."""
MAX_BYTES = 5_000_000


def command_environment(python: str, project: Path) -> Environment:
    """The deciding files of the environment that is active in the project's commands, where the
    project has one of its own; nothing else on PATH is the project's.

    Args:
        python: the project's interpreter, as it is called.
        project: the project.
    """
    bin_folder = Path(python).parent
    root = bin_folder.parent
    if not (root / "pyvenv.cfg").is_file() or not root.is_relative_to(project):
        return Environment()
    programs = [path for path in _files(bin_folder) if path.lstat().st_size <= MAX_BYTES]
    sites = list(root.glob("lib/python*/site-packages"))
    start_up = [path for site in sites for path in _files(site) if _runs_at_start(path)]
    runners = [
        path for site in sites for name in RUNNERS for path in sorted((site / name).rglob("*.py"))
    ]
    return Environment(files=[root / "pyvenv.cfg", *runners], steering=[*programs, *start_up])


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.is_file() or path.is_symlink())


def _runs_at_start(path: Path) -> bool:
    if path.name in ("sitecustomize.py", "usercustomize.py"):
        return True
    # Plain folders in such a file are where an installed package lies; only code runs. Lines end
    # where Python's `site` ends them.
    lines = text_of(path).removeprefix("\ufeff").splitlines()
    return path.suffix == ".pth" and any(line.startswith(("import ", "import\t")) for line in lines)
