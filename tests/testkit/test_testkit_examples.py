"""The examples in the docstrings run, every class has one, and guards cannot be left out."""

from __future__ import annotations

import doctest
import sys
from importlib import import_module
from pkgutil import walk_packages

import pytest

import retrai_testkit
from retrai_testkit import NotApplicable, ToolConformance, overrides

MODULES = sorted(m.name for m in walk_packages(retrai_testkit.__path__, "retrai_testkit."))
CONFORMANCE = [name for name in retrai_testkit.__all__ if name.endswith("Conformance")]


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_the_module_run(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LEFT_BEHIND",):
        monkeypatch.setenv(name, "")
    said: list[str] = []
    for example in doctest.DocTestFinder().find(import_module(module)):
        doctest.DocTestRunner(verbose=False).run(example, out=said.append)
    assert not said, "".join(said)


@pytest.mark.parametrize("name", [*CONFORMANCE, "RetraiProject", "ScriptedModel", "FakeLLMServer"])
def test_every_class_for_authors_has_an_example(name: str) -> None:
    assert ">>> " in (getattr(retrai_testkit, name).__doc__ or "")


@pytest.mark.parametrize("name", CONFORMANCE)
def test_every_test_of_a_contract_says_what_it_demands(name: str) -> None:
    cls = getattr(retrai_testkit, name)
    tests = [test for test in dir(cls) if test.startswith("test_")]
    assert len(tests) > 10
    assert [test for test in tests if not getattr(cls, test).__doc__] == []


def test_there_is_a_contract_for_every_kind() -> None:
    from retrai_core.plugins.kinds import KINDS

    kinds = {getattr(retrai_testkit, name).kind for name in CONFORMANCE}
    assert kinds == set(KINDS) - {"hookspec"}, "specs do nothing by themselves"


def test_the_guard_itself_cannot_be_replaced() -> None:
    with pytest.raises(TypeError, match="guards all others"):
        type("Sly", (ToolConformance,), {"test_every_replaced_test_says_why": lambda self: None})


def test_a_reason_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="no reason"):
        overrides(reason="because")
    with pytest.raises(ValueError, match="no reason"):
        NotApplicable("")


def test_a_run_with_the_scripted_model_imports_no_pytest() -> None:
    import subprocess

    code = "import retrai_testkit.scripted, sys; print('pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
