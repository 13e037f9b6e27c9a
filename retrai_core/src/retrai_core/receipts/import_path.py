"""Where an environment imports a project from: an editable install leads away from a clone."""

from __future__ import annotations

import os
from pathlib import Path

from ..contracts.context import RunContext

_TIMEOUT_S = 60
_WHERE_FROM = """
import sys
print(*sys.path, sep="\\n")
for name, module in list(sys.modules.items()):
    if name.startswith("__editable__"):
        print(*getattr(module, "MAPPING", {}).values(), sep="\\n")
"""
"""Prints where a Python imports from, the tables of setuptools' editable installs too."""


async def imports_from(context: RunContext, original: Path) -> str:
    """The first place in `original` that the run's Python imports from; empty when there is none.

    Args:
        context: a check's, with its sandbox and its interpreter.
        original: a project that the environment may have installed in editable mode.
    """
    command = [context.python, "-c", _WHERE_FROM]
    done = await context.sandbox.run(command, timeout_s=_TIMEOUT_S)
    return next((path for path in done.stdout.splitlines() if _is_source(path, original)), "")


def _is_source(path: str, original: Path) -> bool:
    """Whether it lies in the project, and not in an environment that lies there too."""
    if not os.path.isabs(path) or "site-packages" in path:
        return False
    inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(original))
    return inside and not _in_environment(path)


def _in_environment(path: str) -> bool:
    folders = [Path(path), *Path(path).parents]
    return any((folder / "pyvenv.cfg").is_file() for folder in folders)
