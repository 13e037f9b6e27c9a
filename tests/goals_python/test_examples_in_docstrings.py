"""Every example in a docstring of the Python goals runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import retrai_goals_python

MODULES = [
    module.name
    for module in pkgutil.iter_modules(retrai_goals_python.__path__, "retrai_goals_python.")
    if not module.ispkg
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_the_library_module_and_the_audit_have_examples():
    for name in ("runner", "diff_audit", "shortened"):
        module = importlib.import_module(f"retrai_goals_python.{name}")
        assert any(test.examples for test in doctest.DocTestFinder().find(module))
