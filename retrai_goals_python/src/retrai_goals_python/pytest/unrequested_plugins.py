"""Plugins of pytest that are in an environment only because retrai is installed there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from ..environment.runner_files import DECLARING
from ..python_source import read_bytes
from .detection import PYTEST_FILES, TEST_FILES, python_files

WORD, PLUGIN = "langsmith", "langsmith_plugin"
"""What a project which uses the plugin would have to write, and the name of its entry point.

LangChain requires langsmith, whose plugin adds an option and no outcome, and takes more than a
second of processor time whenever pytest starts."""

MAX_FILES = 5000
ASKING = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")
"""Variables of pytest's that may ask for a plugin, where the sandbox passes them on."""


def disabling_arguments(
    python: str, cwd: Path, arguments: Sequence[str], env: Mapping[str, str] | None = None
) -> list[str]:
    """Arguments that keep pytest from loading what nobody but retrai asked for; reads files.

    Args:
        python: the project's interpreter. Only in retrai's own environment is anything left out.
        cwd: the project, or a copy of it.
        arguments: the other arguments for pytest.
        env: variables that pytest gets beside retrai's own.

    Example:
        >>> disabling_arguments("/usr/bin/python3-of-another-environment", Path.cwd(), [])
        []
    """
    if os.path.dirname(os.path.dirname(os.path.abspath(python))) != sys.prefix:
        return []
    variables = {**os.environ, **(env or {})}
    asked = [*arguments, *(variables.get(name, "") for name in ASKING)]
    used = any(WORD in text for text in asked) or any(WORD.encode() in text for text in _texts(cwd))
    return [] if used else ["-p", f"no:{PLUGIN}"]


def _texts(cwd: Path) -> Iterator[bytes]:
    """What could use a plugin: configuration, here and above, tests, and their fixtures."""
    for folder in (cwd, *cwd.parents):
        for name in (*DECLARING, *PYTEST_FILES, "conftest.py"):
            yield from map(read_bytes, folder.glob(name))
    for path in islice(python_files(cwd), MAX_FILES):
        if any(map(path.match, (*TEST_FILES, "conftest.py"))):
            yield read_bytes(cwd / path)
