"""Finds the pyright that checks a project."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path


def find_pyright(python: str) -> list[str] | None:
    """The command that starts pyright, or None where there is none.

    The project's own environment comes first, then PATH, then retrai's environment.

    Args:
        python: the project's interpreter.
    """
    beside = Path(python).parent / "pyright"
    if os.access(beside, os.X_OK):
        return [str(beside)]
    on_path = shutil.which("pyright")
    if on_path is not None:
        return [on_path]
    if importlib.util.find_spec("pyright") is not None:
        return [sys.executable, "-m", "pyright"]
    return None
