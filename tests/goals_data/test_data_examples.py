"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import walk_packages

import pytest

import retrai_goals_data

MODULES = sorted(
    module.name for module in walk_packages(retrai_goals_data.__path__, "retrai_goals_data.")
)


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_this_module_run(module: str) -> None:
    assert doctest.testmod(import_module(module)).failed == 0
