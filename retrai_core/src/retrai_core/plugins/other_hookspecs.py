"""Hooks that other distributions specify and call, and that hook plugins implement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

import pluggy

from ..contracts.hooks import FORMER_HOOKS, PROJECT_NAME, HookSpecs
from ..errors import PluginError
from .describe import hook_names, spec_names
from .record import PluginRecord

if TYPE_CHECKING:
    from .catalog import Catalog


@dataclass
class OtherSpecs:
    """The hook specs in use, except retrai's own.

    Attributes:
        loaded: records with what `Catalog.load` returned for them.
        problems: of each that cannot be used, the error that says why.
    """

    loaded: list[tuple[PluginRecord, object]] = field(
        default_factory=list[tuple[PluginRecord, object]]
    )
    problems: list[tuple[PluginRecord, PluginError]] = field(
        default_factory=list[tuple[PluginRecord, PluginError]]
    )

    def why_without(self, hook: str) -> str:
        """What may be why a hook is unknown; empty where nothing is wrong with any specs."""
        for record, error in self.problems:
            if not record.hooks or hook in record.hooks:
                return f"; {error.message}"
        return ""


def unknown_hooks(plugins: Iterable[object]) -> set[str]:
    """The hooks that plugins implement and that are not retrai's own."""
    named = {name for plugin in plugins for name in hook_names(plugin)}
    return named - set(spec_names(HookSpecs)) - FORMER_HOOKS.keys()


def load_hookspecs(catalog: Catalog, hooks: set[str]) -> OtherSpecs:
    """Load the specs of these hooks, and nothing where there are none.

    Of two distributions that specify one hook, the first by name counts.
    """
    found = OtherSpecs()
    taken = dict.fromkeys(spec_names(HookSpecs), "retrai-core")
    for record in records_with(catalog, "hookspec", hooks) if hooks else ():
        try:
            specs = catalog.load(record)
            _check(record, specs)
            twice = [name for name in spec_names(specs) if name in taken]
            if twice:
                record.status = "broken"
                record.error = f"`{twice[0]}` is a hook of {taken[twice[0]]} already"
                raise record.problem()
        except PluginError as error:
            found.problems.append((record, error))
        else:
            taken |= dict.fromkeys(spec_names(specs), record.dist)
            found.loaded.append((record, specs))
    return found


def _check(record: PluginRecord, specs: object) -> None:
    """Refuse what pluggy cannot read (an attribute that raises when it is looked at).

    Raises:
        PluginError: why.
    """
    try:
        pluggy.PluginManager(PROJECT_NAME).add_hookspecs(cast("Any", specs))
    except (Exception, SystemExit) as error:
        record.status, record.error = "broken", f"{type(error).__name__}: {error}"
        raise record.problem() from error


def records_with(
    catalog: Catalog, kind: Literal["hook", "hookspec"], hooks: set[str]
) -> Iterator[PluginRecord]:
    """The plugins that may implement, or specify, one of these hooks.

    Without a manifest only the plugin itself knows.
    """
    for record in catalog.records(kind):
        if not record.is_disabled and (not record.hooks or hooks & set(record.hooks)):
            yield record
