"""Every goal and tool has its page, as the code has it, and says what it was run against."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
HOW = "write it again: python docs/render_goals.py"


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    spec = spec_from_file_location("render_goals", ROOT / "docs" / "render_goals.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_every_goal_and_tool_has_a_page_that_says_what_the_code_says(script: ModuleType) -> None:
    every = list(script.documented())
    assert {one.kind for one in every} == {"goal", "tool"}
    for one in every:
        assert one.page.exists(), f"{one.page.name} is missing; {HOW}"
        assert one.page.read_text(encoding="utf-8") == script.page(one), f"{one.page.name}; {HOW}"


def test_every_page_says_what_real_program_it_was_run_against(script: ModuleType) -> None:
    silent = [
        f"{one.kind} {one.name}" for one in script.documented() if not script.run_against(one)
    ]
    assert silent == [], "add a line `Run against: PROGRAM VERSION` below the generated part"


def test_the_index_lists_them_all(script: ModuleType) -> None:
    text = (ROOT / "docs" / "goals" / "README.md").read_text(encoding="utf-8")
    assert text == script.index(list(script.documented())), HOW


def test_no_page_is_left_of_a_goal_or_tool_that_is_gone(script: ModuleType) -> None:
    known = {one.page for one in script.documented()} | {ROOT / "docs" / "goals" / "README.md"}
    there = {*ROOT.glob("docs/goals/*.md"), *ROOT.glob("docs/tools/*.md")}
    assert there - known == set()
