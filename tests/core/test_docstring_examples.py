"""Every example in the docstrings of the contracts and of what plugin authors meet runs."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import iter_modules

import pytest

from retrai_core import contracts

MODULES = sorted(
    [f"retrai_core.contracts.{module.name}" for module in iter_modules(contracts.__path__)]
    + ["retrai_core.bus", "retrai_core.events", "retrai_core.plugins.catalog"]
)
EXTENSION_POINTS = (
    "agent.Agent",
    "event_sink.EventSink",
    "frontend.Frontend",
    "goal.GoalBase",
    "hooks.HookSpecs.before_tool",
    "hooks.HookSpecs.artifacts",
    "hooks.HookSpecs.system_prompt",
    "hooks.HookSpecs.tools",
    "llm.LLMProvider",
    "memory.MemoryStore",
    "sandbox.Sandbox",
    "tool.Tool",
)


def examples(module: str) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder(exclude_empty=True).find(import_module(module))
    return [example for example in found if example.examples]


@pytest.mark.parametrize(
    "example",
    [example for module in MODULES for example in examples(module)],
    ids=lambda example: example.name,
)
def test_the_example_runs(example: doctest.DocTest) -> None:
    said: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(example, out=said.append)
    assert result.failed == 0, "".join(said)


@pytest.mark.parametrize("name", EXTENSION_POINTS)
def test_every_extension_point_has_an_example(name: str) -> None:
    module = f"retrai_core.contracts.{name.partition('.')[0]}"
    assert f"retrai_core.contracts.{name}" in {example.name for example in examples(module)}
