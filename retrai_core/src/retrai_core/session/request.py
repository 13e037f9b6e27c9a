"""A request for a run: every setting merged and checked, as JSON, before there is a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_serializer

from ..choosing import catalog_for, choose
from ..chosen import Choice
from ..guard.left_behind import clean_up_before
from ..plugins.patience import patiently
from ..run_config import RunConfig
from ..runs.ending import limits_of
from ..runs.record import GoalRecord, RunRecord
from ..settings import load_settings
from ..trust import require_trust
from .naming_origin import told_with_origin

Tell = Callable[[str], None]


class RunRequest(BaseModel):
    """What a run is asked to do. JSON: whoever executes it reads no configuration file again.

    Make one with `RunManager.prepare`; one of a configuration alone is completed when it is
    submitted.
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
    """The caller's own, for `RunManager.list`."""
    parent: str | None = None
    """The run that asked for this one."""
    continues: str | None = None
    """The run whose result the agent goes on from."""
    versions: dict[str, str] = Field(default_factory=dict)
    """Version by distribution of every plugin that the run uses."""
    attended: bool = False
    """Somebody sees the events while the run goes on: a login that a model needs is waited for."""
    interactive: bool = False
    """Somebody answers the run's questions; else nothing is asked, and what needs consent is
    refused."""
    _choice: Choice | None = PrivateAttr(None)

    @property
    def run_id(self) -> str:
        """The id that the run is going to have."""
        return self.config.run_id

    @field_serializer("config")
    def _only_what_is_set(self, config: RunConfig) -> dict[str, Any]:
        always = config.model_dump(mode="json", include={"cwd", "run_id"})
        return config.model_dump(mode="json", exclude_unset=True) | always

    def take_choice(self) -> Choice | None:
        """The plugins that were loaded for it in this process, once."""
        choice, self._choice = self._choice, None
        return choice

    async def completed(self, folder: Path, tell: Tell) -> RunRequest:
        """The request with its plugins chosen and its options validated; nothing is built.

        Raises:
            UsageError, PluginError: as `choosing.choose`.
        """
        if self._choice is not None:
            return self
        choice = await chosen(self.config, folder, tell, attended=self.attended)
        goals: list[GoalRecord] = []
        if choice.goal is not None:
            options = choice.goal.options.model_dump(mode="json", exclude_unset=True)
            evidence = choice.goal_evidence
            goals = [GoalRecord(name=choice.goal_name, found_by=evidence, options=options)]
        update = {
            "config": choice.config,
            "goals": goals,
            "versions": choice.versions(),
            "interactive": self.interactive or choice.config.hitl_enabled,
        }
        done = self.model_copy(update=update)
        done._choice = choice  # noqa: SLF001 - of this class
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
        )


async def prepare(
    project: Path,
    state: Path,
    tell: Tell,
    given: Mapping[str, Any],
    *,
    trust: str | None,
    locked: bool,
    **request: Any,
) -> RunRequest:
    """Read every source of settings, ask for consent, choose the plugins: see `RunManager`."""
    for line in await asyncio.to_thread(clean_up_before, project, state):
        tell(line)
    settings = await asyncio.to_thread(load_settings, project, given)
    config = settings.config
    digest = require_trust(settings, partial(catalog_for, config), agreed=trust or False)
    if locked:
        from ..plugins.lock import require_locked

        require_locked(config.cwd, catalog_for(config))
    asked = RunRequest(config=config, origins=dict(settings.origins), digest=digest, **request)
    with told_with_origin(settings):
        return await asked.completed(state / "runs" / config.run_id, tell)


async def chosen(config: RunConfig, folder: Path, tell: Tell, *, attended: bool) -> Choice:
    """Decide on every part of a run; the user is told where a plugin takes long to load.

    Raises:
        UsageError, PluginError: as `choosing.choose`.
    """
    catalog = await asyncio.to_thread(catalog_for, config)
    work = partial(choose, config, folder, catalog, attended=attended)
    return await patiently(catalog, work, tell)
