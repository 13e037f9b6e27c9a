"""Hooks are called one plugin at a time, and a plugin that cannot be called is left out."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from retrai_core import GateDecision, PluginError, ToolCall, hookimpl
from retrai_core.plugins.catalog import Catalog
from retrai_core.plugins.hooks import HookCaller
from retrai_core.plugins.record import PluginRecord


def a_record(name: str) -> PluginRecord:
    return PluginRecord(name, "hook", f"dist-of-{name}", "1.0", f"{name}:Plugin")


class Raising:
    @hookimpl
    def system_prompt(self, goal: object) -> None:
        raise OSError("disk full")


class Answering:
    @hookimpl
    def system_prompt(self, goal: object) -> str:
        return f"about {goal}"


class Denying:
    @hookimpl
    def before_tool(self, call: ToolCall) -> GateDecision:
        return GateDecision("deny", f"not {call.name}")


class UnknownArgument:
    @hookimpl
    def before_tool(self, call: ToolCall, mood: str) -> None:
        """Asks for what nobody gives."""


class UnknownHook:
    @hookimpl
    def before_lunch(self) -> None:
        """No such hook."""


class Unbuildable:
    def __init__(self, needed: int) -> None:
        self.needed = needed

    @hookimpl
    def system_prompt(self) -> None:
        """Never called."""


class Greeting:
    class Options(BaseModel):
        word: str = "hello"

    def __init__(self, options: Options) -> None:
        self.options = options

    @hookimpl
    def system_prompt(self) -> str:
        return self.options.word


class FormerSink:
    @hookimpl
    def on_event(self, event: object) -> None:
        """An event sink as it was once."""


def test_one_that_raises_does_not_silence_the_next() -> None:
    hooks = HookCaller([(a_record("b"), Answering), (a_record("a"), Raising)])
    found = hooks.call_each("system_prompt", goal=1, context=None)
    answers = [(record.name, answer) for record, answer in found]
    assert [name for name, _ in answers] == ["a", "b"]
    assert isinstance(answers[0][1], OSError)
    assert answers[1][1] == "about 1"


def test_only_those_that_implement_a_hook_are_called_for_it() -> None:
    hooks = HookCaller([(a_record("prompt"), Answering), (a_record("gate"), Denying)])
    assert [record.name for record in hooks.implementers("before_tool")] == ["gate"]
    call = ToolCall("1", "bash_exec", {})
    ((record, answer),) = hooks.call_each("before_tool", call=call, context=None)
    assert (record.name, answer) == ("gate", GateDecision("deny", "not bash_exec"))
    assert hooks.call_one(record, "before_tool", call=call, context=None) == answer
    assert hooks.call_one(record, "system_prompt", goal=1, context=None) is None


@pytest.mark.parametrize(
    ("options", "said"),
    [({}, "hello"), ({"greet@dist-of-greet": Greeting.Options(word="hi")}, "hi")],
)
def test_a_class_with_options_is_built_with_them_or_with_their_defaults(
    options: dict[str, BaseModel], said: str
) -> None:
    hooks = HookCaller([(a_record("greet"), Greeting)], options=options)
    assert [answer for _, answer in hooks.call_each("system_prompt", goal=1, context=None)] == [
        said
    ]


@pytest.mark.parametrize(
    ("plugin", "told"),
    [
        (UnknownArgument, "mood"),
        (UnknownHook, "before_lunch"),
        (Unbuildable, "needed"),
        (FormerSink, "an event sink is a plugin of its own now"),
    ],
)
def test_a_hook_plugin_that_cannot_be_called_is_broken_and_left_out(
    plugin: type, told: str
) -> None:
    record = a_record("odd")
    hooks = HookCaller([(record, plugin), (a_record("gate"), Denying)])
    assert record.status == "broken"
    ((of_record, error),) = hooks.broken
    assert of_record is record
    assert isinstance(error, PluginError)
    assert told in str(error)
    assert "dist-of-odd" in str(error)
    assert [known.name for known in hooks.implementers("before_tool")] == ["gate"]


def test_a_module_can_be_a_hook_plugin(site: Any) -> None:
    site.install(
        "hooking",
        entry_points="[retrai.hooks]\nsay = hooking.plugin\nnone = hooking\n",
        code="from retrai_core import hookimpl\n"
        "@hookimpl\ndef system_prompt(goal):\n    return 'x'\n",
    )
    catalog = Catalog.scan()
    record = catalog.find("hook", "say")
    hooks = HookCaller([(record, catalog.load(record))])
    assert [answer for _, answer in hooks.call_each("system_prompt", goal=None, context=None)] == [
        "x"
    ]
    assert record.hooks == ("system_prompt",)
    with pytest.raises(PluginError, match="hookimpl"):
        catalog.load(catalog.find("hook", "none"))


def test_a_property_that_raises_is_no_hook_and_no_harm(site: Any) -> None:
    site.install(
        "hooking",
        entry_points="[retrai.hooks]\nsay = hooking.plugin:sink\n",
        code="""
from retrai_core import hookimpl
class Sink:
    @property
    def trap(self):
        raise RuntimeError("looked at")
    @hookimpl
    def tools(self):
        return []
sink = Sink()
""",
    )
    catalog = Catalog.scan()
    record = catalog.find("hook", "say")
    hooks = HookCaller([(record, catalog.load(record))])
    assert [known.name for known in hooks.implementers("tools")] == ["say"]
