"""How a distribution calls the hooks that it specifies itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from ..config.model import explained_options
from ..config.sources import user_settings
from ..errors import PluginError
from .catalog import Catalog
from .describe import spec_names
from .hooks import HookCaller
from .other_hookspecs import OtherSpecs, load_hookspecs, records_with
from .record import PluginRecord


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """The answer of one plugin.

    Attributes:
        plugin: `name@distribution`.
        value: what the hook returned; None where it raised.
        problem: what it raised, as an error that names the plugin; None where it did not.
    """

    plugin: str
    value: Any = None
    problem: PluginError | None = None


class OwnHooks:
    """The installed hook plugins that implement hooks of these specs.

    The constructor imports and builds them, which may take a moment. Hooks are called one plugin at
    a time: an exception in one does not stop the others. A plugin that takes options has the user's
    own, from `plugins: {NAME: ...}`; no project has a say in them.

    Args:
        specs: the class, object or module that the distribution names in `retrai.hookspecs`.
        project: the folder whose configuration says which plugins are switched off.

    Attributes:
        problems: a line for each plugin that implements one of the hooks and cannot be used.

    Example:
        >>> from retrai_core import hookspec
        >>> class PaintHooks:
        ...     @hookspec
        ...     def colours(self, room):
        ...         "The colours that a plugin offers for a room."
        >>> hooks = OwnHooks(PaintHooks)
        >>> [answer.value for answer in hooks.call("colours", room="kitchen")]
        []
    """

    def __init__(self, specs: object, project: str | os.PathLike[str] = ".") -> None:
        catalog = Catalog.configured(project)
        own = set(spec_names(specs))
        if not own:
            raise ValueError(f"{specs!r} has no method marked with `@hookspec`")
        self.problems: list[str] = []
        plugins = list(self._loaded(catalog, own))
        also = {name for record, _ in plugins for name in record.hooks} - own
        others = load_hookspecs(catalog, also)
        mine = PluginRecord("own", "hookspec", "", "", "")
        loaded = [(r, each) for r, each in others.loaded if not own & set(spec_names(each))]
        known = OtherSpecs([(mine, specs), *loaded], others.problems)
        plugins, options = self._with_options(plugins)
        self._caller = HookCaller(plugins, others=known, options=options)
        self.problems += [str(error) for _, error in self._caller.broken]

    def call(self, hook: str, **arguments: Any) -> list[HookAnswer]:
        """Call a hook of every plugin that implements it, sorted by name; what each answered."""
        return [
            _answer(record, answer) for record, answer in self._caller.call_each(hook, **arguments)
        ]

    def _with_options(
        self, plugins: Sequence[tuple[PluginRecord, object]]
    ) -> tuple[list[tuple[PluginRecord, object]], dict[str, BaseModel]]:
        """The plugins whose options are valid, and these by the full names of their records."""
        usable, options = list[tuple[PluginRecord, object]](), dict[str, BaseModel]()
        given = user_settings() if any(_options_model(plugin) for _, plugin in plugins) else None
        for record, plugin in plugins:
            model = _options_model(plugin)
            if model is not None and given is not None:
                name = record.name
                try:
                    options[record.full_name] = model.model_validate(
                        given.config.plugins.get(name, {})
                    )
                except ValidationError as error:
                    origin = given.origin(f"plugins.{name}")
                    told = explained_options(
                        error, record.kind, name, name, lambda _, origin=origin: origin
                    )
                    self.problems.append(str(told))
                    continue
            usable.append((record, plugin))
        return usable, options

    def _loaded(self, catalog: Catalog, hooks: set[str]) -> Sequence[tuple[PluginRecord, object]]:
        found: list[tuple[PluginRecord, object]] = []
        for record in records_with(catalog, "hook", hooks):
            try:
                plugin = catalog.load(record)
            except PluginError as error:
                self.problems.append(str(error))
                continue
            if hooks & set(record.hooks):
                found.append((record, plugin))
        return found


def _options_model(plugin: object) -> type[BaseModel] | None:
    model = getattr(plugin, "Options", None) if isinstance(plugin, type) else None
    return cast("type[BaseModel] | None", model)


def _answer(record: PluginRecord, answer: object) -> HookAnswer:
    if not isinstance(answer, Exception):
        return HookAnswer(record.full_name, answer)
    what = f"{type(answer).__name__}: {' '.join(str(answer).split()) or 'no message'}"
    problem = record.failure(what, PluginError)
    problem.__cause__ = answer
    return HookAnswer(record.full_name, problem=problem)
