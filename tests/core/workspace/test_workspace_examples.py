"""The examples in the docstrings of workspace and sandbox run."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    "name", ["workspace.safe_paths", "workspace.processes.output", "workspace.processes.runner"]
)
def test_an_example_gives_what_it_says(name: str) -> None:
    result = doctest.testmod(import_module(f"retrai_core.{name}"))

    assert result.attempted > 0
    assert result.failed == 0
