"""Every example in a docstring of the packs of goals runs."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import walk_packages

import pytest

PACKS = ("retrai_goals_js", "retrai_goals_python", "retrai_goals_shell")
MODULES = [
    module.name
    for pack in PACKS
    for module in walk_packages(import_module(pack).__path__, f"{pack}.")
    if not module.ispkg
]
WITH_EXAMPLES = (
    "retrai_goals_js.js_audit",
    "retrai_goals_python.diff_audit",
    "retrai_goals_python.runner",
    "retrai_goals_shell.command.audit",
    "retrai_goals_shell.edits",
    "retrai_goals_shell.go.failing_test",
    "retrai_goals_shell.go.guarding",
    "retrai_goals_shell.cargo.guarding",
    "retrai_goals_shell.cargo.source",
    "retrai_goals_shell.perf.line_order",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    assert doctest.testmod(import_module(name)).failed == 0


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_there_are_examples(name: str) -> None:
    assert any(test.examples for test in doctest.DocTestFinder().find(import_module(name)))
