"""What `retrai_core` promises: every public name is there, and importing it is cheap."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import retrai_core

HEAVY = ("pydantic", "langchain_core", "langgraph", "litellm", "stevedore", "click", "rich", "yaml")


def in_a_fresh_interpreter(code: str) -> list[str]:
    """The words that `code` prints in an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.split()


@pytest.mark.parametrize("name", retrai_core.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(retrai_core, name) is not None


@pytest.mark.parametrize(
    "name", [name for name in retrai_core.__all__ if inspect.isclass(getattr(retrai_core, name))]
)
def test_every_public_class_says_what_it_is(name: str) -> None:
    assert inspect.getdoc(getattr(retrai_core, name))


def test_public_names_stand_once_and_sorted_case_by_case() -> None:
    assert len(set(retrai_core.__all__)) == len(retrai_core.__all__)
    assert set(retrai_core._MODULE_OF) == set(retrai_core.__all__) - {"__version__"}


def test_a_name_that_is_not_public_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="'Guard'"):
        _ = retrai_core.Guard


def test_importing_the_package_imports_nothing_heavy() -> None:
    loaded = in_a_fresh_interpreter("import retrai_core, sys; print(*sys.modules)")
    assert [name for name in HEAVY if name in loaded] == []
    assert [name for name in loaded if name.startswith("retrai_core.")] == []


@pytest.mark.parametrize("name", ["AgentEvent", "RetraiError", "UsageError", "EVENT_KINDS"])
def test_events_and_errors_come_without_pydantic_or_langchain(name: str) -> None:
    loaded = in_a_fresh_interpreter(
        f"import retrai_core, sys; retrai_core.{name}; print(*sys.modules)"
    )
    assert [name for name in HEAVY if name in loaded] == []


@pytest.mark.parametrize("name", ["GoalBase", "Tool", "LLMProvider", "Sandbox", "MemoryStore"])
def test_the_contracts_come_without_langchain(name: str) -> None:
    loaded = in_a_fresh_interpreter(
        f"import retrai_core, sys; retrai_core.{name}; print(*sys.modules)"
    )
    heavy = ("langchain_core", "langgraph", "litellm", "stevedore", "click", "rich")
    assert [name for name in heavy if name in loaded] == []


def test_every_error_is_one_family_with_an_exit_code() -> None:
    for name in retrai_core.__all__:
        value = getattr(retrai_core, name)
        if inspect.isclass(value) and issubclass(value, Exception):
            assert issubclass(value, retrai_core.RetraiError)
            assert isinstance(value.exit_code, int)


def test_an_error_shows_its_hint_in_brackets() -> None:
    assert str(retrai_core.UsageError("no goal", hint="retrai init")) == "no goal (retrai init)"
    assert str(retrai_core.UsageError("no goal")) == "no goal"
