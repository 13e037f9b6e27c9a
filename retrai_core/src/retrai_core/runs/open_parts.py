"""Opens the store and the engine that the user's settings name."""

from __future__ import annotations

from typing import Any

from ..config.sources import user_settings
from ..contracts.engine import Engine, EngineHost
from ..contracts.store import RunStore
from ..errors import PluginError
from .resolver import Resolver, Wanted

FILES, INLINE, PROCESS = "files", "inline", "process"


def open_store(name: str | None = None) -> RunStore:
    """The store of this name, else the one that the user's settings name.

    Raises:
        UsageError, PluginError: there is none of this name, or it cannot be used.
    """
    name = name or user_settings().config.store
    if name == FILES:  # without a look at what is installed
        from ..storage.files import FilesStore

        return FilesStore()
    return _open(Wanted("store", name, "store", "store"), RunStore)


def open_engine(name: str | None, host: EngineHost) -> Engine:
    """The engine of this name, else the one that the user's settings name.

    Raises:
        UsageError, PluginError: as for `open_store`.
    """
    name = name or user_settings().config.engine
    if name == INLINE:
        from .inline import InlineEngine

        return InlineEngine(InlineEngine.Options(), host)
    if name == PROCESS:
        from .process import ProcessEngine

        return ProcessEngine(ProcessEngine.Options(), host)
    return _open(Wanted("engine", name, "engine", "engine"), Engine, host)


def _open(wanted: Wanted, base: type[Any], *more: object) -> Any:
    resolver = Resolver(user_settings())
    record = resolver.find(wanted)
    part = resolver.part(record, base)
    if not issubclass(part.cls, base):
        what = f"is no {base.__name__}: {part.cls!r}"
        raise PluginError(f"the {record.kind} {record.name} of {record.dist} {what}")
    try:
        return part.cls(part.options, *more)
    except Exception as error:  # whatever a plugin raises
        what = f"{type(error).__name__}: {error}"
        raise PluginError(f"the {record.kind} {record.name} cannot be built: {what}") from error
