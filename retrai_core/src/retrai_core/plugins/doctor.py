"""Everything that is wrong with the plugins of this environment, for this project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..config_files import LOCK_FILE
from ..errors import RetraiError, UsageError
from ..resolver import Resolver, Wanted
from ..run_config import unknown_option
from ..settings import load_settings
from .catalog import Catalog
from .environment import Finding, environment_findings
from .lock import current_lock, lock_differences, read_lock
from .record import PluginRecord

_SCHEMA = 1


@dataclass
class Plan:
    """What a run would use, each plugin with why; `findings` says what stands in its way.

    Attributes:
        model: the model's name and where it comes from.
    """

    model: str = ""
    parts: list[tuple[PluginRecord, str]] = field(default_factory=list[tuple[PluginRecord, str]])
    findings: list[Finding] = field(default_factory=list[Finding])


@dataclass(frozen=True)
class Diagnosis:
    """What the doctor found; `plan` is None where the configuration cannot be read."""

    plan: Plan | None
    findings: list[Finding]

    @property
    def is_well(self) -> bool:
        """No problem was found; notes are none."""
        return not any(finding.level == "problem" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """JSON values only; the keys are stable within one `schema`."""
        plan = self.plan
        return {
            "schema": _SCHEMA,
            "ok": self.is_well,
            "findings": [finding._asdict() for finding in self.findings],
            "plan": None
            if plan is None
            else {"model": plan.model, "parts": [_part_json(*part) for part in plan.parts]},
        }


def examine(project: Path) -> Diagnosis:
    """Look at everything, without importing a plugin; whatever is broken becomes a finding."""
    findings: list[Finding] = []
    plan: Plan | None = None
    try:
        settings = load_settings(project)
        catalog = Catalog.of(settings)
        plan = _Planner(Resolver(settings, catalog)).plan()
    except UsageError as error:
        findings.append(Finding("problem", "configuration", error.message, error.hint))
        catalog = Catalog.scan()
    used = [] if plan is None else [record for record, _ in plan.parts]
    findings += [] if plan is None else plan.findings
    findings += environment_findings(catalog, used)
    findings += _lock_findings(project, catalog)
    unique = dict.fromkeys(findings)
    return Diagnosis(plan, sorted(unique, key=lambda found: found.level != "problem"))


def _lock_findings(project: Path, catalog: Catalog) -> list[Finding]:
    if not (project / LOCK_FILE).exists():
        return []
    try:
        differences = lock_differences(read_lock(project / LOCK_FILE), current_lock(catalog))
    except UsageError as error:
        return [Finding("problem", LOCK_FILE, error.message, error.hint)]
    mend = "install what it names, or `retrai plugins lock`"
    return [Finding("note", LOCK_FILE, difference, mend) for difference in differences]


def _part_json(record: PluginRecord, why: str) -> dict[str, Any]:
    fields = {name: getattr(record, name) for name in ("kind", "name", "dist", "version")}
    return fields | {"why": why}


class _Planner:
    """Asks the resolver for every part of a run, and notes what stands in its way."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._config = resolver.config
        self._catalog = resolver.catalog
        self._plan = Plan()

    def plan(self) -> Plan:
        """What a run would use, from the manifests alone."""
        resolver, config = self._resolver, self._config
        origin = resolver.settings.origins.get("model_name", "default")
        self._plan.model = f"{config.model_name} ({origin})"
        for problem in resolver.problems():
            self._problem("configuration", problem)
        goal = self._goal()
        self._add(resolver.wanted_model)
        self._add(resolver.wanted_agent)
        if goal is not None:
            self._add(lambda: resolver.wanted_tools(goal.default_tools, goal.name, is_checked=True))
        if not self._add(resolver.wanted_sandboxes):
            self._plan.findings.append(Finding("problem", "sandbox", "no sandbox can be used"))
        self._add(resolver.wanted_memory)
        every = [*self._catalog.records("hook"), *self._catalog.records("sink")]
        self._plan.parts += [
            (record, f"every {record.kind} is called") for record in every if record.is_usable
        ]
        self._check_options(goal)
        notes = [notice.message for notice in resolver.notices]
        for line in [*resolver.warnings(), *notes]:
            self._plan.findings.append(Finding("note", "configuration", line))
        return self._plan

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
            self._plan.parts.append((record, f"{each.why}{origin}"))
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
            if name not in record.options:
                keys = [*(f"{setting}.{name}" for setting in settings), *settings]
                origin = self._resolver.settings.origin(*keys)
                known = list(record.options)
                error = unknown_option(name, record.kind, record.name, known, origin)
                self._problem(name, error)
        for name, option in record.options.items():
            if option.required and name not in given:
                about, what = f"{record.kind} {record.name}", f"its option {name} must be given"
                mend = f"retrai plugins show {record.name}"
                self._plan.findings.append(Finding("problem", about, what, mend))

    def _problem(self, about: str, error: RetraiError) -> None:
        self._plan.findings.append(Finding("problem", about, error.message, error.hint))
