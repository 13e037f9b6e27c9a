"""Opens the store and the engine that the user's settings name."""

from __future__ import annotations

from typing import Any, TypeVar

from ..contracts.engine import Engine, EngineHost
from ..contracts.store import RunStore
from ..errors import PluginError
from ..plugin_answers import checked_options
from ..plugins.catalog import Catalog
from ..plugins.kinds import Kind
from ..settings import user_config_file, user_settings

T = TypeVar("T")

FILES, INLINE, PROCESS = "files", "inline", "process"


def open_store(name: str | None = None) -> RunStore:
    """The store of this name, else the one that the user's settings name.

    Raises:
        UsageError, PluginError: there is none of this name, or it cannot be used.
    """
    name = name or user_settings().store
    if name == FILES:  # without a look at what is installed
        from ..storage.files import FilesStore

        return FilesStore()
    cls, options = _loaded("store", name, RunStore)
    return _built(cls, name, options)


def open_engine(name: str | None, host: EngineHost) -> Engine:
    """The engine of this name, else the one that the user's settings name.

    Raises:
        UsageError, PluginError: as for `open_store`.
    """
    name = name or user_settings().engine
    if name == INLINE:
        from .inline import InlineEngine

        return InlineEngine(InlineEngine.Options(), host)
    if name == PROCESS:
        from .process import ProcessEngine

        return ProcessEngine(ProcessEngine.Options(), host)
    cls, options = _loaded("engine", name, Engine)
    return _built(cls, name, options, host)


def _loaded(kind: Kind, name: str, base: type[T]) -> tuple[type[T], Any]:
    catalog = Catalog.configured()
    record = catalog.find(kind, name)
    cls = catalog.load(record)
    if not (isinstance(cls, type) and issubclass(cls, base)):
        raise PluginError(f"the {kind} {name} of {record.dist} is no {base.__name__}: {cls!r}")
    given = user_settings().plugins.get(name, {})
    return cls, checked_options(record, cls, given, user_config_file().parent)


def _built(cls: Any, name: str, *args: Any) -> Any:
    try:
        return cls(*args)
    except Exception as error:  # whatever a plugin raises
        what = f"{type(error).__name__}: {error}"
        raise PluginError(f"the {cls.__name__} {name} cannot be built: {what}") from error
