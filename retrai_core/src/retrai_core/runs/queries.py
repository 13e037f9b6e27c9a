"""Queries: plugins, goals, settings, and strategies of earlier runs."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from pydantic import PydanticUserError

from ..config.sources import load_settings, setting_rows, user_settings
from ..contracts.goal import GoalBase
from ..contracts.llm import LLMProvider, create_model
from ..contracts.memory import MemoryStore
from ..errors import PluginError, UsageError
from ..events import AgentEvent
from ..plugins.catalog import Catalog
from ..plugins.kinds import Kind
from ..storage.state_folder import state_dir
from ..workspace.temporary import temporary_prefix
from .own_options import with_own_names
from .request import Tell
from .resolved_run import ResolvedRun
from .resolver import Resolver
from .session import RunSession
from .trust import without_claims

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


@dataclass(frozen=True)
class PluginInfo:
    """An installed plugin, as its manifest describes it; nothing is imported.

    Attributes:
        kind: `goal`, `tool`, `llm`, ...
        name: its name.
        dist: the distribution.
        version: the distribution's.
        status: `unloaded` where nothing speaks against using it.
        error: what does, in one line.
        summary: one line.
        needs: what it uses.
        options: its options by name, with type, default and description.
    """

    kind: str
    name: str
    dist: str
    version: str
    status: str
    error: str
    summary: str
    needs: tuple[str, ...]
    options: dict[str, Any]


@dataclass(frozen=True)
class FoundGoal:
    """A goal that was detected in a project.

    Attributes:
        name: the goal's name.
        evidence: the sign, for people.
    """

    name: str
    evidence: str


@dataclass(frozen=True)
class SettingInfo:
    """One setting of a project.

    Attributes:
        name: as `.retrai.yml` has it.
        value: a JSON value.
        origin: the file or the variable it comes from, or `default`.
    """

    name: str
    value: Any
    origin: str


def plugins(kind: Kind | None = None) -> list[PluginInfo]:
    """Every installed plugin."""
    found: list[PluginInfo] = []
    for record in Catalog.configured().records(kind):
        record.read_manifest()
        found.append(
            PluginInfo(
                record.kind,
                record.name,
                record.dist,
                record.version,
                record.status,
                record.error,
                record.summary,
                tuple(sorted(record.needs or ())),
                {name: option._asdict() for name, option in record.options.items()},
            )
        )
    return found


def detect(project: Path) -> list[FoundGoal]:
    """The goals whose sign the project shows, the likeliest first; nothing is imported."""
    hits = Catalog.configured(project).detect(project)
    return [FoundGoal(hit.record.name, hit.evidence) for hit in hits]


def goal_options(project: Path, name: str) -> dict[str, Any]:
    """The options of a goal as a JSON schema: see `RunManager.goal_options`."""
    settings = load_settings(project)
    catalog = Catalog.of(settings)
    record = catalog.find("goal", settings.config.plugin_of(name))
    goal = cast("type[GoalBase]", catalog.load(record))
    try:
        return goal.Options.model_json_schema()
    except PydanticUserError as error:
        raise record.failure(f"its options have no JSON schema: {error}", PluginError) from error


def settings_of(project: Path) -> list[SettingInfo]:
    """Every setting of a project, its value, and where that comes from."""
    settings = load_settings(project)
    shown = with_own_names(settings, Catalog.of(settings))
    model = Resolver(shown).shown_model()
    config = shown.config.model_copy(update={"model_name": model})
    return [SettingInfo(*row) for row in setting_rows(replace(shown, config=config))]


class KeyedModels:
    """Makes chat models of callers who bring their own keys: see `RunManager.keyed_models`.

    A provider is built once for all of them, so that what it holds is started once.
    """

    def __init__(self, session: RunSession) -> None:
        self._session = session
        self._resolver = session.resolver()
        self._providers: dict[str, LLMProvider] = {}
        self._making = Lock()

    async def make(self, name: str, api_key: str, temperature: float) -> BaseChatModel:
        """A chat model. The key is used for it alone, and is not kept here.

        Args:
            name: any name that an installed provider knows.
            api_key: the caller's key.
            temperature: its temperature.

        Raises:
            UsageError, PluginError: nobody knows the model, or it is not asked with a key.
        """
        return await asyncio.to_thread(self._make, name, api_key, temperature)

    def _make(self, name: str, api_key: str, temperature: float) -> BaseChatModel:
        with self._making:
            full_name = self._resolver.catalog.provider_for(name).full_name
            provider = self._providers.get(full_name)
            if provider is None:
                part = self._resolver.provider_of(name, has_key=True)
                provider = self._providers[full_name] = self._session.build_part(part)
        if provider.per_run:  # a replay reads the file that its name has
            raise UsageError(f"{name} is a model of one run, and is not asked with a key")
        return create_model(provider, name, temperature, self._session.context, api_key)


@asynccontextmanager
async def open_model(
    name: str, api_key: str | None, temperature: float
) -> AsyncGenerator[BaseChatModel]:
    """A chat model by the user's own settings: see `RunManager.model`."""
    async with _models_session(name) as session:
        model = session.context.chat_model
        yield await asyncio.to_thread(model, name, temperature, api_key=api_key)


@asynccontextmanager
async def open_keyed_models() -> AsyncGenerator[KeyedModels]:
    """Chat models of callers with keys: see `RunManager.keyed_models`."""
    async with _models_session("") as session:
        yield KeyedModels(session)


@asynccontextmanager
async def _models_session(name: str) -> AsyncGenerator[RunSession]:
    settings = user_settings()
    with tempfile.TemporaryDirectory(prefix=temporary_prefix("retrai-model")) as folder:
        update = {"cwd": Path(folder), **({"model_name": name} if name else {})}
        settings = replace(settings, config=settings.config.model_copy(update=update))
        resolved = ResolvedRun(
            config=settings.config,
            settings=settings,
            catalog=Catalog.of(settings),
            attended=False,
        )
        async with RunSession(resolved, Path(folder)) as session:
            yield session


@asynccontextmanager
async def open_memory(project: Path, tell: Tell) -> AsyncGenerator[MemoryStore]:
    """The project's memory store.

    Raises:
        UsageError: it has none.
        PluginError: it is broken or incompatible.
    """

    def warn(event: AgentEvent) -> None:
        if event.kind == "log" and event.payload.get("level") == "warning":
            tell(f"warning: {event.payload.get('message')}")

    resolved = Resolver(without_claims(load_settings(project))).memory_only()
    async with RunSession(replace(resolved, notices=()), state_dir(), warn) as session:
        await session.build()
        if session.context.memory_part is None:
            raise UsageError(
                "this project has no memory store",
                hint="`pip install retrai-memory-file`, or set `memory:` in the configuration",
            )
        yield session.context.memory_part
