"""Every public name is documented in the README, and the examples in the docstrings run."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import retrai_goal_support

README = Path(__file__).parents[2] / "plugins" / "retrai_goal_support" / "README.md"
MODULES = sorted(module.name for module in iter_modules(retrai_goal_support.__path__))


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_this_module_run(module: str) -> None:
    assert doctest.testmod(import_module(f"retrai_goal_support.{module}")).failed == 0


def test_the_readme_names_every_public_name_and_its_example_runs() -> None:
    text = README.read_text(encoding="utf-8")
    listed = re.findall(r"`(\w+)`", "\n".join(re.findall(r"^- .*$", text, re.MULTILINE)))
    assert set(listed) == set(retrai_goal_support.__all__)
    (example,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    exec(example, {})


@pytest.mark.parametrize("name", retrai_goal_support.__all__)
def test_every_public_name_stands_on_a_page_for_authors(name: str) -> None:
    pages = README.parents[2] / "docs" / "plugins"
    kinds = ("goal", "tool", "memory", "writing")
    text = "\n".join((pages / f"{kind}.md").read_text(encoding="utf-8") for kind in kinds)
    assert re.search(rf"`{name}[`(]", text)
