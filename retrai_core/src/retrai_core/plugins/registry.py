"""The load phase: imports one plugin through stevedore, and checks it."""

from __future__ import annotations

import importlib
import threading
import time
import traceback
from importlib.metadata import Distribution, EntryPoint, PathDistribution
from pathlib import Path
from typing import Any, cast

from stevedore import ExtensionManager, NamedExtensionManager

from ..contracts.agent import Agent
from ..contracts.engine import Engine
from ..contracts.event_sink import EventSink
from ..contracts.frontend import Frontend
from ..contracts.goal import GoalBase
from ..contracts.llm import LLMProvider
from ..contracts.memory import MemoryStore
from ..contracts.sandbox import Sandbox
from ..contracts.store import RunStore
from ..contracts.tool import Tool
from .describe import declared_needs, describe_plugin, hook_names, spec_names
from .kinds import Kind
from .missing import command_that_mends
from .record import PluginRecord
from .soundness import class_problem
from .watch import watched_import

_INVALIDATING = threading.Lock()
"""Side by side, Python 3.11 raises a KeyError there."""
_CONTRACT_OF: dict[Kind, type[object]] = {
    "goal": GoalBase,
    "tool": Tool,
    "llm": LLMProvider,
    "memory": MemoryStore,
    "frontend": Frontend,
    "agent": Agent,
    "sandbox": Sandbox,
    "store": RunStore,
    "engine": Engine,
    "sink": EventSink,
}


class WrongPluginTypeError(TypeError):
    """The object of an entry point does not implement the contract of its kind."""


class UnsoundPluginError(TypeError):
    """A plugin's class declares something that no plugin may declare."""


class HiddenNeedsError(TypeError):
    """A manifest declares fewer needs than its class; users rely on the manifest."""


class WatchedEntryPoint(EntryPoint):
    """An entry point that knows its distribution; its import cannot change our process."""

    def load(self) -> Any:
        """Import and return the object; see `watched_import` for what is raised."""
        with watched_import():
            try:
                return super().load()
            except (KeyboardInterrupt, Exception, SystemExit):
                raise
            except BaseException as error:
                raise ImportError(f"it raises {type(error).__name__}: {error}") from error


_GIVEN_TO_OLDER_AGENTS = ["initial_state", "result"]
"""An agent of retrai 0.1 has neither; it gets the goal loop's (`loop.graph.completed`)."""


class _OneEntryPoint(NamedExtensionManager[object]):
    """stevedore's manager over the scan: it sees exactly the selected entry point.

    stevedore's own scan uses a disk cache that can be stale, and loses the distribution of an entry
    point.
    """

    def __init__(self, group: str, entry_point: EntryPoint) -> None:
        self._entry_point = entry_point
        super().__init__(
            group,
            [entry_point.name],
            on_load_failure_callback=_raise,
            on_missing_entrypoints_callback=None,
        )

    def list_entry_points(self) -> list[EntryPoint]:
        """The selected one."""
        return [self._entry_point]


def _raise(_: ExtensionManager[object], __: EntryPoint, error: BaseException) -> None:
    raise error


def load_plugin(record: PluginRecord) -> object:
    """Import a plugin, check that it is of its kind, and note the outcome in its record.

    Args:
        record: which one; loading it again gives the same object.

    Raises:
        PluginError: it cannot be used.
    """
    if not record.is_usable:
        raise record.problem()
    with _INVALIDATING:
        importlib.invalidate_caches()
    entry_point = WatchedEntryPoint(record.name, record.entry_point, record.group)
    if record.metadata_folder:
        _keep_distribution(entry_point, PathDistribution(Path(record.metadata_folder)))
    started = time.perf_counter()
    try:
        plugin: object = _OneEntryPoint(record.group, entry_point)[record.name].plugin
        _check_type(record, plugin)
        if record.entry is None:
            record.entry = describe_plugin(record.kind, plugin)
        if problem := class_problem(record.kind, record.name, plugin):
            raise UnsoundPluginError(problem)
        _check_needs(record, plugin)
    except Exception as error:  # whatever a plugin raises, it is the plugin that is broken
        record.status = "broken"
        record.error = _describe_error(error)
        record.fix = command_that_mends(error, record)
        record.traceback = "".join(traceback.format_exception(error))
        raise record.problem() from error
    finally:
        record.load_ms = round((time.perf_counter() - started) * 1000, 1)
    record.status = "ok"
    return plugin


def _check_type(record: PluginRecord, plugin: object) -> None:
    contract = _CONTRACT_OF.get(record.kind)
    if contract is None:
        if record.kind == "hookspec":
            if not spec_names(plugin):
                raise WrongPluginTypeError("it has no method marked with `@hookspec`")
        elif not hook_names(plugin):
            raise WrongPluginTypeError("it has no method marked with `@hookimpl`")
        return
    if not isinstance(plugin, type) or not issubclass(plugin, contract):
        what = plugin.__name__ if isinstance(plugin, type) else f"a {type(plugin).__name__}"
        raise WrongPluginTypeError(
            f"`{record.entry_point}` is {what}, not a subclass of retrai_core.{contract.__name__}"
        )
    abstract = sorted(cast(frozenset[str], getattr(plugin, "__abstractmethods__", ())))
    if abstract and not (record.kind == "agent" and abstract == _GIVEN_TO_OLDER_AGENTS):
        raise WrongPluginTypeError(f"`{record.entry_point}` lacks {', '.join(abstract)}")


def _check_needs(record: PluginRecord, plugin: object) -> None:
    hidden = sorted(set(declared_needs(plugin)) - set(record.needs or ()))
    if hidden:
        raise HiddenNeedsError(f"its manifest hides that it needs {', '.join(hidden)}")


def _keep_distribution(entry_point: EntryPoint, distribution: Distribution) -> None:
    # What `EntryPoint._for` does; an entry point refuses plain assignment.
    vars(entry_point).update(dist=distribution)


def _describe_error(error: Exception) -> str:
    first_line = (str(error).strip() or "no message").splitlines()[0]
    return f"{type(error).__name__}: {first_line}"
