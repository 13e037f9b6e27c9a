"""Calls the hooks one plugin at a time, so that an exception in one does not stop the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, cast

import pluggy
from pydantic import BaseModel

from ..contracts.hooks import FORMER_HOOKS, PROJECT_NAME, HookSpecs
from ..errors import PluginError
from .describe import hook_names, needed_hooks, spec_names
from .other_hookspecs import OtherSpecs
from .record import PluginRecord


class UnknownHookError(TypeError):
    """A hook plugin implements a hook that nobody calls."""


class HookCaller:
    """The hook plugins of one run.

    Each plugin has a pluggy manager of its own: pluggy calls all plugins of a manager in one go,
    and the first that raises ends the call for the rest.

    Args:
        plugins: records with what `Catalog.load` returned for them. A class is built without
            arguments, or with its options where it has a model `Options`. One that cannot be
            built, that implements a hook which is unknown, or that asks for an argument the hook
            does not give, is marked `broken` in its record and left out; the caller decides what
            that means (a configured gate must not be missing).
        specs: retrai's own hooks; another class than `HookSpecs` is for tests.
        others: the hooks of other distributions.
        options: what a class is built with that has a model `Options`, by the full name of its
            record; its defaults where nothing is given.

    Attributes:
        broken: the records that were left out, each with the error that says why.

    Example:
        >>> from retrai_core import GateDecision, ToolCall, hookimpl
        >>> class NoNetwork:
        ...     @hookimpl
        ...     def before_tool(self, call):
        ...         return GateDecision("deny", "offline")
        >>> record = PluginRecord("no-network", "hook", "acme", "1.0", "acme:NoNetwork")
        >>> hooks = HookCaller([(record, NoNetwork)])
        >>> for record, answer in hooks.call_each("before_tool", call=None, context=None):
        ...     print(record.name, answer.verdict)
        no-network deny
    """

    def __init__(
        self,
        plugins: Iterable[tuple[PluginRecord, object]],
        specs: type = HookSpecs,
        others: OtherSpecs | None = None,
        options: Mapping[str, BaseModel] = MappingProxyType({}),
    ) -> None:
        self.broken: list[tuple[PluginRecord, PluginError]] = []
        self._managers: list[tuple[PluginRecord, pluggy.PluginManager]] = []
        others = others or OtherSpecs()
        for record, plugin in sorted(plugins, key=lambda pair: pair[0].full_name):
            try:
                self._managers.append((record, _registered(record, plugin, specs, others, options)))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises, it is broken
                record.status = "broken"
                record.error = f"{type(error).__name__}: {' '.join(str(error).split())}"
                record.fix = f"pip install --upgrade {record.dist}"
                problem = record.problem()
                problem.__cause__ = error
                self.broken.append((record, problem))

    @property
    def records(self) -> list[PluginRecord]:
        """Every hook plugin that is in use."""
        return [record for record, _ in self._managers]

    def implementers(self, hook_name: str) -> list[PluginRecord]:
        """The plugins that implement a hook, in the order in which they are called."""
        return [record for record, manager in self._managers if _implements(manager, hook_name)]

    def call_each(
        self, hook_name: str, **arguments: Any
    ) -> Iterator[tuple[PluginRecord, object | Exception]]:
        """Call a hook of every plugin that implements it, sorted by name.

        Yields:
            the plugin's record with what it returned (None included), or with the exception that
            it raised.
        """
        for record, manager in self._managers:
            if _implements(manager, hook_name):
                yield record, _answer(manager, hook_name, arguments)

    def call_one(
        self, record: PluginRecord, hook_name: str, **arguments: Any
    ) -> object | Exception:
        """Call a hook of one plugin; None where it does not implement the hook."""
        for known, manager in self._managers:
            if known is record and _implements(manager, hook_name):
                return _answer(manager, hook_name, arguments)
        return None


def _registered(
    record: PluginRecord,
    plugin: object,
    specs: type,
    others: OtherSpecs,
    options: Mapping[str, BaseModel],
) -> pluggy.PluginManager:
    manager = pluggy.PluginManager(PROJECT_NAME)
    manager.add_hookspecs(specs)
    implemented = set(hook_names(plugin))
    for _, own in others.loaded:
        if implemented & set(spec_names(own)):
            manager.add_hookspecs(cast("Any", own))
    for name in needed_hooks(plugin):
        if not hasattr(manager.hook, name):
            if name not in FORMER_HOOKS:
                unknown = f"`{name}` is no hook of retrai or of a plugin that is installed"
                raise UnknownHookError(f"{unknown}{others.why_without(name)}")
            if FORMER_HOOKS[name]:
                raise UnknownHookError(f"`{name}` is no hook any more: {FORMER_HOOKS[name]}")
    manager.register(_build(plugin, options.get(record.full_name)), record.full_name)
    return manager


def _build(plugin: object, options: BaseModel | None) -> object:
    if not isinstance(plugin, type):
        return plugin
    model: Any = getattr(plugin, "Options", None)
    return plugin() if model is None else plugin(model() if options is None else options)


def _implements(manager: pluggy.PluginManager, hook_name: str) -> bool:
    hook = getattr(manager.hook, hook_name, None)  # of another distribution, it may be missing
    return hook is not None and bool(hook.get_hookimpls())


def _answer(
    manager: pluggy.PluginManager, hook_name: str, arguments: dict[str, Any]
) -> object | Exception:
    try:
        hook = getattr(manager.hook, hook_name)
        answers: Any = hook(**arguments)
        if hook.spec is not None and hook.spec.opts["firstresult"]:
            return answers
    except Exception as error:  # noqa: BLE001 - handed to the caller, who knows what it means
        return error
    except SystemExit as error:  # not an Exception, and would end retrai or one thread of it
        return RuntimeError(f"it raised SystemExit({error.code!r})")
    return answers[0] if answers else None
