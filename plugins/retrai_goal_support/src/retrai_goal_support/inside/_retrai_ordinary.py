"""Lets a process look like an ordinary program of the project, and not like one that is judged.

Nothing but the standard library is used, of Python 3.8 on.
"""

from __future__ import annotations

import os
import sys
from importlib import _bootstrap_external  # type: ignore[attr-defined]
from importlib.machinery import PathFinder
from typing import Any, Iterator, List

RUNNERS = ("pytest", "_pytest", "pluggy", "iniconfig", "xdist", "hypothesis")
PROGRAM = "app.py"


def look_ordinary() -> Any:
    """Change what the process shows of itself; what hides the runner from the project's code."""
    os.environ.pop("PYTHONHASHSEED", None)
    home = os.environ.get("HOME", "/")
    # Those that a shell sets, and that nothing honest depends on.
    usual = {"OLDPWD": home, "PWD": os.getcwd(), "SHELL": "/bin/bash", "SHLVL": "1"}
    os.environ["TERM"] = "xterm-256color"
    for name, value in {**usual, "_": sys.executable}.items():
        os.environ.setdefault(name, value)
    sys.argv[:] = [PROGRAM]
    sys.orig_argv = [sys.executable, PROGRAM]
    sys.modules["__main__"].__file__ = PROGRAM
    # Byte code is not written, without a switch that tells so.
    loader: Any = _bootstrap_external
    loader.SourceFileLoader.set_data = write_nothing
    finder = WithoutRunner()
    sys.meta_path[:] = [finder if each is PathFinder else each for each in sys.meta_path]
    return finder


def write_nothing(*args: Any, **named: Any) -> None:
    """In the place of what writes byte code."""


class WithoutRunner:
    """The usual finder of modules, which finds no runner of tests.

    Attributes:
        hides: whether it does; once a module of the project imports a runner, there is no use.
    """

    def __init__(self) -> None:
        self.hides = True

    def is_runner(self, name: str) -> bool:
        """Whether a module is a part of a runner."""
        return name.partition(".")[0] in RUNNERS

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        hidden = self.hides and self.is_runner(name)
        return None if hidden else PathFinder.find_spec(name, path, target)

    def invalidate_caches(self) -> None:
        # A class method since Python 3.12; it needs no object before.
        invalidate: Any = PathFinder.invalidate_caches
        invalidate()

    def find_distributions(self, *args: Any, **named: Any) -> Iterator[Any]:
        """For `importlib.metadata`: what is installed, but for runners and their plugins."""
        finder: Any = PathFinder
        for each in finder.find_distributions(*args, **named):
            if not (self.hides and is_of_runner(each)):
                yield each


def is_of_runner(distribution: Any) -> bool:
    """Whether a distribution is a runner of tests or a plugin for one."""
    try:
        if str(distribution.metadata["Name"]).lower() in RUNNERS:
            return True
        found: List[Any] = list(distribution.entry_points)
    except Exception:  # noqa: BLE001 - broken metadata are for others to find
        return False
    return any(each.group == "pytest11" for each in found)
