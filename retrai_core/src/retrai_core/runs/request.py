"""A request for a run: all settings, merged and checked, as JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_serializer

from ..config.model import USE, RunConfig
from ..config.sources import Settings, load_settings
from ..contracts.record import GoalRecord, RunRecord
from ..errors import TrustRequired, UsageError
from ..plugins.catalog import Catalog
from ..plugins.import_timeout import load_in_thread
from ..plugins.kinds import Kind
from ..verification.clean_up import clean_up_before
from .resolved_run import ResolvedRun
from .resolver import Resolver
from .run_end import limits_of
from .trust import require_trust

Tell = Callable[[str], None]


class RunRequest(BaseModel):
    """The request for a run. It is JSON, so that its executor reads no configuration file.

    Create one with `RunManager.prepare`. A request with only a configuration is completed when it
    is submitted.
    """

    model_config = ConfigDict(frozen=True)

    config: RunConfig
    """The merged settings."""
    origins: dict[str, str] = Field(default_factory=dict)
    """By setting: the file, the variable or `flag` that it comes from."""
    digest: str = ""
    """Stands for what of the project's own file was consented to; empty where nothing had to be."""
    goals: list[GoalRecord] = Field(default_factory=list[GoalRecord])
    """The goals with their options."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Labels of the caller, for `RunManager.list`."""
    parent: str | None = None
    """The run that asked for this one."""
    continues: str | None = None
    """The run whose result the agent starts from."""
    versions: dict[str, str] = Field(default_factory=dict)
    """Version by distribution of every plugin that the run uses."""
    attended: bool = False
    """Somebody sees the events while the run goes on: a login that a model needs is waited for."""
    interactive: bool = False
    """Somebody answers the run's questions; else nothing is asked, and what needs consent is
    refused."""
    _resolved: ResolvedRun | None = PrivateAttr(None)

    @property
    def settings(self) -> Settings:
        """The merged settings with the origin of each."""
        return Settings(self.config, self.origins)

    @property
    def run_id(self) -> str:
        """The id that the run is going to have."""
        return self.config.run_id

    @field_serializer("config")
    def _only_what_is_set(self, config: RunConfig) -> dict[str, Any]:
        always = config.model_dump(mode="json", include={"cwd", "run_id"})
        return config.model_dump(mode="json", exclude_unset=True) | always

    def take_resolved(self) -> ResolvedRun | None:
        """What was resolved for it in this process, once."""
        resolved, self._resolved = self._resolved, None
        return resolved

    async def completed(self, folder: Path, tell: Tell, *, check_only: bool = False) -> RunRequest:
        """The request with its plugins loaded and its options validated; nothing is built.

        Args:
            folder: the run's.
            tell: hears where a plugin takes long to load.
            check_only: only what a check needs; `submit` completes the request.

        Raises:
            UsageError, PluginError: as `Resolver.run`.
        """
        if self._resolved is not None:
            return self
        resolved = await resolve_run(
            self.settings, folder, tell, attended=self.attended, check_only=check_only
        )
        goals: list[GoalRecord] = []
        if resolved.goal is not None:
            options = resolved.goal.options.model_dump(mode="json", exclude_unset=True)
            evidence = resolved.goal_evidence
            goals = [GoalRecord(name=resolved.goal_name, found_by=evidence, options=options)]
        update = {
            "config": resolved.config,
            "goals": goals,
            "versions": resolved.versions(),
            "interactive": self.interactive or resolved.config.hitl_enabled,
        }
        done = self.model_copy(update=update)
        done._resolved = None if check_only else resolved  # noqa: SLF001 - of this class
        return done

    def record(self) -> RunRecord:
        """The record of the run, `pending`."""
        config = self.config
        return RunRecord(
            id=config.run_id,
            labels=self.labels,
            parent=self.parent,
            continues=self.continues,
            goals=[goal.model_copy(deep=True) for goal in self.goals],
            agent=config.agent,
            model=config.model_name,
            project=config.cwd,
            task=config.task,
            input=config.input,
            attended=self.attended,
            interactive=self.interactive,
            limits=limits_of(config),
            versions=self.versions,
            config=self._only_what_is_set(config),
            origins=dict(self.origins),
        )


async def prepare(
    project: Path,
    state: Path,
    tell: Tell,
    given: Mapping[str, Any],
    *,
    trust: str | None,
    locked: bool,
    check_only: bool,
    **request: Any,
) -> RunRequest:
    """Read every source of settings, ask for consent, choose the plugins: see `RunManager`."""
    for line in await asyncio.to_thread(clean_up_before, project, state):
        tell(line)
    settings = await asyncio.to_thread(load_settings, project, given)
    config = settings.config
    try:
        digest = require_trust(settings, agreed=trust or False)
    except TrustRequired:  # nobody is asked to agree to a misspelt key
        await asyncio.to_thread(_refuse_unknown_keys, settings)
        raise
    if locked:
        from ..plugins.lock import require_locked

        require_locked(config.cwd, Catalog.of(settings))
    await asyncio.to_thread(_refuse_names, settings, given)
    asked = RunRequest(config=config, origins=dict(settings.origins), digest=digest, **request)
    folder = state / "runs" / config.run_id
    return await asked.completed(folder, tell, check_only=check_only)


async def resolve_run(
    settings: Settings, folder: Path, tell: Tell, *, attended: bool, check_only: bool = False
) -> ResolvedRun:
    """Decide on every part of a run; the user is told where a plugin takes long to load.

    Raises:
        UsageError, PluginError: as `Resolver.run`.
    """
    catalog = await asyncio.to_thread(Catalog.of, settings)
    resolver = Resolver(settings, catalog, run_dir=folder, attended=attended)
    resolve = resolver.check if check_only else resolver.run
    return await load_in_thread(catalog, resolve, tell)


def _refuse_unknown_keys(settings: Settings) -> None:
    """Refuse what a run would refuse after the consent, as far as the manifests tell.

    Raises:
        UsageError, PluginError: a name or a key that nobody knows.
    """
    resolver = Resolver(settings)
    for problem in resolver.problems():
        raise problem
    resolver.require_known_options()


def _refuse_names(settings: Settings, given: Mapping[str, Any]) -> None:
    """Refuse a check that hides an installed goal, and what the caller gives to nobody; a file may
    name what is installed elsewhere."""
    config = settings.config
    own = {name for name, entry in config.goals.items() if USE in entry}
    named: list[tuple[Kind, str]] = [
        *(("goal", name) for name in given.get("goals") or () if name not in own),
        *(("agent", name) for name in given.get("agents") or ()),
    ]
    if not (own or named):
        return
    catalog = Catalog.of(settings)
    for kind, name in named:
        if not catalog.matching(name, kind):
            raise catalog.unknown(name, kind)
    for name in own:
        if config.plugin_of(name) != name and catalog.matching(name, "goal"):
            raise UsageError(
                f"goals: {name} is an installed goal, and `{USE}: {config.plugin_of(name)}` would "
                "hide it",
                hint="give your own check another name",
            )
