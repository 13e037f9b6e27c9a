"""An exception out of a plugin's code is told with the plugin's name and distribution."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from retrai_core.plugins.catalog import Catalog
from retrai_core.plugins.error_attribution import WrongAnswerError, blamed
from retrai_core.plugins.record import PluginRecord

CODE = """
from . import deeper

class Plugin:
    def work(self):
        return deeper.work()

    def call(self, function):
        return function()

class Other:
    def work(self):
        raise OSError("no\\nmore")

    def through_a_helper(self):
        return Helper().work()

class Helper:
    def work(self):
        return work()

def work():
    raise LookupError("nothing")
"""


@pytest.fixture
def records(site: Any) -> list[PluginRecord]:
    package = site.install(
        "acme",
        entry_points="[retrai.goals]\none = acme.plugin:Plugin\n"
        "[retrai.tools]\ntwo = acme.plugin:Other\n",
        code=CODE,
    )
    (package / "deeper.py").write_text("def work():\n    raise ValueError('deep')\n")
    return Catalog.scan().records()


def raised(function: Any, *arguments: Any) -> BaseException:
    with pytest.raises(Exception) as caught:
        function(*arguments)
    return caught.value


def test_the_class_that_raised_says_which_of_a_packages_plugins_it_was(
    records: list[PluginRecord],
) -> None:
    from acme.plugin import Other, Plugin, work  # type: ignore[import-not-found]  # on the site

    functions = (Other().work, Plugin().work, work, Other().through_a_helper)
    told = [blamed(raised(function), records) for function in functions]
    assert [str(each).partition(" (")[0] for each in told] == [
        "the tool two of acme 1.0 failed: OSError: no",
        "the goal one of acme 1.0 failed: ValueError: deep",
        "the goal one of acme 1.0 failed: LookupError: nothing",
        "the tool two of acme 1.0 failed: LookupError: nothing",
    ]
    assert "`pip install --upgrade acme`" in str(told[0])


def test_what_we_raise_ourselves_is_blamed_on_nobody(records: list[PluginRecord]) -> None:
    assert blamed(raised(int, "x"), records) is None


def test_the_innermost_plugin_is_to_blame(records: list[PluginRecord], site: Any) -> None:
    from acme.plugin import Plugin

    site.install_goal("inner", "inner", "def work(): raise KeyError('x')")
    from inner.plugin import work  # type: ignore[import-not-found]  # on the site

    told = blamed(raised(Plugin().call, work), Catalog.scan().records())
    assert "the goal inner of inner 1.0 failed: KeyError" in str(told)


def test_a_wrong_answer_is_blamed_on_whoever_gave_it(records: list[PluginRecord]) -> None:
    from acme.plugin import Other

    class Mine(Other):
        """A class that the plugin's is the base of."""

    for part in (Other(), Mine()):
        told = blamed(WrongAnswerError(part, "run() returned a list"), records)
        assert "the tool two of acme 1.0 failed: run() returned a list" in str(told)
    assert blamed(WrongAnswerError(sys, "x"), records) is None
