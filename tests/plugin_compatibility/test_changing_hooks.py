"""How hooks change: a later core may give more arguments, and warns of what is to go."""

from __future__ import annotations

import warnings

import pytest

from retrai_core import GateDecision, hookimpl
from retrai_core.contracts.hooks import HookSpecs, hookspec
from retrai_core.plugins.hooks import HookCaller
from retrai_core.plugins.record import PluginRecord

GOING = DeprecationWarning("`tools` goes away with retrai-core 0.3")
GOING_ARGUMENT = DeprecationWarning("`context` goes away with retrai-core 0.3")


class LaterSpecs(HookSpecs):
    """The hooks of a core to come."""

    @hookspec(warn_on_impl_args={"context": GOING_ARGUMENT})
    def before_tool(self, call, context, history): ...

    @hookspec(warn_on_impl=GOING)
    def tools(self, context): ...


class FewArguments:
    @hookimpl
    def before_tool(self, call):
        return GateDecision("deny", call)


class GoingArgument:
    @hookimpl
    def before_tool(self, call, context):
        return GateDecision("deny", f"{call} {context}")


class GoingHook:
    @hookimpl
    def tools(self, context):
        return None


class NewArgument:
    @hookimpl
    def before_tool(self, call, history):
        return None


def caller_of(plugin: type, specs: type) -> HookCaller:
    record = PluginRecord("some", "hook", "acme", "1.0", "acme:Some")
    return HookCaller([(record, plugin)], specs)


def reasons(caller: HookCaller) -> list[str]:
    arguments = {"call": "a call", "context": "a context", "history": "a history"}
    return [answer.reason for _, answer in caller.call_each("before_tool", **arguments)]


def test_a_hook_that_names_fewer_arguments_works_and_is_not_warned() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert reasons(caller_of(FewArguments, LaterSpecs)) == ["a call"]


@pytest.mark.parametrize(
    ("plugin", "warning"), [(GoingHook, GOING), (GoingArgument, GOING_ARGUMENT)]
)
def test_who_implements_what_is_to_go_is_warned(plugin: type, warning: DeprecationWarning) -> None:
    with pytest.warns(DeprecationWarning, match="goes away") as caught:
        caller = caller_of(plugin, LaterSpecs)
    assert [str(entry.message) for entry in caught] == [str(warning)]
    assert caught[0].filename == __file__, "the warning names the plugin's own file"
    assert caller.broken == [], "a warning breaks nothing"


def test_what_is_to_go_works_until_then() -> None:
    with pytest.warns(DeprecationWarning, match="goes away"):
        assert reasons(caller_of(GoingArgument, LaterSpecs)) == ["a call a context"]


def test_a_hook_that_wants_more_than_this_core_gives_is_broken() -> None:
    caller = caller_of(NewArgument, HookSpecs)
    ((record, problem),) = caller.broken
    assert record.status == "broken"
    assert "history" in str(problem)
