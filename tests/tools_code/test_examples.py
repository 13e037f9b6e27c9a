"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize("name", ["cutting", "globs", "patch_hints", "rg_filter", "text_files"])
def test_an_example_gives_what_it_says(name: str) -> None:
    result = doctest.testmod(import_module(f"retrai_tools_code.{name}"))

    assert result.attempted > 0
    assert result.failed == 0
