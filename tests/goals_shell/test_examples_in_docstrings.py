"""Every example in a docstring of `retrai_goals_shell` runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import retrai_goals_shell

MODULES = [m.name for m in pkgutil.iter_modules(retrai_goals_shell.__path__, "retrai_goals_shell.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    found = [
        t for name in MODULES for t in finder.find(importlib.import_module(name)) if t.examples
    ]
    assert len(found) >= 5
