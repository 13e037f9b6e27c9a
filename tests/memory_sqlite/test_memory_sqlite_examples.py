"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import iter_modules

import pytest

import retrai_memory_sqlite

MODULES = sorted(module.name for module in iter_modules(retrai_memory_sqlite.__path__))


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_this_module_run(module: str) -> None:
    result = doctest.testmod(import_module(f"retrai_memory_sqlite.{module}"))
    assert result.failed == 0


def test_the_plugins_class_has_an_example() -> None:
    found = [
        test
        for module in MODULES
        for test in doctest.DocTestFinder().find(import_module(f"retrai_memory_sqlite.{module}"))
        if test.examples
    ]
    assert "SqliteMemory" in {test.name.split(".")[-1] for test in found}
