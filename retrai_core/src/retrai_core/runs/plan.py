"""Plans what a run of a project would use, from the manifests alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ..config.model import unknown_option
from ..config.sources import load_settings
from ..contracts.plan import Finding, PlannedPlugin, RunPlan
from ..errors import RetraiError
from ..plugins.catalog import Catalog
from ..plugins.record import PluginRecord
from .resolver import Resolver, Wanted


def plan_run(project: Path) -> RunPlan:
    """The plugins that a run of the project would use; nothing is imported."""
    settings = load_settings(project)
    return _Planner(Resolver(settings, Catalog.of(settings))).plan()


class _Planner:
    """Asks the resolver for every part of a run, and collects the problems."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._config = resolver.config
        self._catalog = resolver.catalog
        self._plugins: list[PlannedPlugin] = []
        self._findings: list[Finding] = []

    def plan(self) -> RunPlan:
        """What a run would use, from the manifests alone."""
        resolver, config = self._resolver, self._config
        origin = resolver.settings.origins.get("model_name", "default")
        for problem in resolver.problems():
            self._problem("configuration", problem)
        goal = self._goal()
        self._add(resolver.wanted_model)
        self._add(resolver.wanted_agent)
        if goal is not None:
            self._add(lambda: resolver.wanted_tools(goal.default_tools, goal.name, is_checked=True))
        if not self._add(resolver.wanted_sandboxes):
            self._findings.append(Finding("problem", "sandbox", "no sandbox can be used"))
        self._add(resolver.wanted_memory)
        every = [*self._catalog.records("hook"), *self._catalog.records("sink")]
        for record in every:
            if record.is_usable:
                self._use(record, f"every {record.kind} is called")
        self._check_options(goal)
        notes = [notice.message for notice in resolver.notices]
        for line in [*resolver.warnings(), *notes]:
            self._findings.append(Finding("note", "configuration", line))
        return RunPlan(f"{config.model_name} ({origin})", self._plugins, self._findings)

    def _goal(self) -> PluginRecord | None:
        """The named goal, or the first whose marker the project shows."""

        def wanted() -> list[Wanted]:
            first, *others = self._resolver.wanted_goals()
            names = ", ".join(other.name for other in others)
            why = f"{first.why}; also possible: {names}" if names else first.why
            return [first._replace(why=why)]

        return next(iter(self._add(wanted)), None)

    def _add(self, ask: Callable[[], Iterable[Wanted]]) -> list[PluginRecord]:
        """Note the plugins that are wanted; what keeps one from being used is a finding."""
        added: list[PluginRecord] = []
        try:
            wanted = list(ask())
        except RetraiError as error:
            self._problem("configuration", error)
            return []
        for each in wanted:
            try:
                record = self._resolver.find(each)
                if not record.is_usable:
                    raise record.problem()
            except RetraiError as error:
                self._problem(f"{each.kind} {each.name}", error)
                continue
            origin = self._resolver.settings.origin(each.setting) if each.setting else ""
            self._use(record, f"{each.why}{origin}")
            added.append(record)
        return added

    def _check_options(self, goal: PluginRecord | None) -> None:
        """Whether the manifests know every option that the configuration gives."""
        config = self._config
        if goal is not None:
            name = config.goal or goal.name
            is_named = config.plugin_of(name).partition("@")[0] == goal.name
            given = {**(config.options_of(name) if is_named else {}), **config.options}
            self._check(goal, given, "options", f"goals.{name}")
        for name in config.goals:
            found = self._catalog.matching(config.plugin_of(name), "goal")
            if name != config.goal and found and found[0] is not goal:
                self._check(found[0], config.options_of(name), f"goals.{name}")
        for name, given in sorted(config.plugins.items()):
            for record in self._catalog.matching(name)[:1]:
                if record.options:
                    self._check(record, given, f"plugins.{name}")

    def _check(self, record: PluginRecord, given: Mapping[str, Any], *settings: str) -> None:
        if record.entry is None:
            return
        for name in given:
            if record.option_name(name) is None:
                keys = [*(f"{setting}.{name}" for setting in settings), *settings]
                origin = self._resolver.settings.origin(*keys)
                known = list(record.options)
                error = unknown_option(name, record.kind, record.name, known, origin)
                self._problem(name, error)
        for name, option in record.options.items():
            if option.required and not {name, *option.aliases} & given.keys():
                about, what = f"{record.kind} {record.name}", f"its option {name} must be given"
                fix = f"retrai plugins show {record.name}"
                self._findings.append(Finding("problem", about, what, fix))

    def _problem(self, about: str, error: RetraiError) -> None:
        self._findings.append(Finding("problem", about, error.message, error.hint))

    def _use(self, record: PluginRecord, why: str) -> None:
        planned = PlannedPlugin(record.kind, record.name, record.dist, record.version, why)
        self._plugins.append(planned)
