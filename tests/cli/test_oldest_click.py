"""The oldest click that retrai-core accepts, 8.1, has no generic classes."""

from __future__ import annotations

import subprocess
import sys

import pytest

AS_OF_8_1 = """
import sys, click
for each in (click.ParamType, click.Parameter):
    each.__class_getitem__ = None
from retrai_core.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("command", [["run"], ["runs", "list"], ["plugins"], ["config"]])
def test_commands_start_with_it(command: list[str]) -> None:
    arguments = [sys.executable, "-c", AS_OF_8_1, *command, "--help"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage:")
