"""What a run of this project would use and why, from the manifests alone: no plugin is imported.

The run itself decides in `choosing`, with the classes at hand: a goal may still decline a project
that has its marker, and a provider may still miss its key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import RetraiError, UsageError
from ..run_config import unknown_option
from ..settings import Settings
from .catalog import Catalog
from .environment import Finding
from .kinds import Kind
from .offered import offered_always
from .pinning import pin_problems
from .providers import choose_provider
from .record import PluginRecord
from .required import unmet_requirements
from .standard_names import (
    ALWAYS_THERE,
    AUTO_SANDBOX,
    NO_MEMORY,
    OFFLINE,
    SANDBOXES_TO_TRY,
    STRICT_SANDBOX,
    WALLED_SANDBOX,
)


@dataclass(frozen=True, slots=True)
class PlannedPart:
    """A plugin that a run would use, and why."""

    record: PluginRecord
    why: str

    def to_json(self) -> dict[str, Any]:
        """JSON values only."""
        return {
            "kind": self.record.kind,
            "name": self.record.name,
            "dist": self.record.dist,
            "version": self.record.version,
            "why": self.why,
        }


@dataclass
class Plan:
    """What a run would use; `findings` says what stands in its way.

    Attributes:
        model: the model's name and where it comes from.
    """

    model: str = ""
    parts: list[PlannedPart] = field(default_factory=list[PlannedPart])
    findings: list[Finding] = field(default_factory=list[Finding])

    def records(self) -> list[PluginRecord]:
        """The plugins of the plan."""
        return [part.record for part in self.parts]


def plan_run(settings: Settings, catalog: Catalog) -> Plan:
    """Plan a run with these settings; what is wrong becomes a finding, nothing is raised."""
    planner = _Planner(settings, catalog)
    planner.goal()
    planner.provider()
    planner.named("agent", settings.config.agent, "agent")
    planner.tools()
    planner.sandboxes()
    planner.memory()
    planner.hooks()
    planner.sinks()
    planner.plugin_options()
    planner.requirements()
    return planner.plan


class _Planner:
    def __init__(self, settings: Settings, catalog: Catalog) -> None:
        self.config = settings.config
        self.origins = settings.origins
        self.catalog = catalog
        self.plan = Plan()
        self.chosen_goal: PluginRecord | None = None

    def goal(self) -> None:
        """The named goal, or the first whose marker the project shows."""
        given = self.config.options
        if (name := self.config.goal) is not None:
            plugin = self.config.plugin_of(name)
            why = "goal" if plugin == name else f"goals.{name}"
            self.chosen_goal = self.named("goal", plugin, why)
            given = {**self.config.options_of(name), **given}
        else:
            found = self.catalog.detect(self.config.cwd)
            if not found:
                self._no_goal(self.config.cwd)
                return
            others = ", ".join(f"{hit.record.name} ({hit.evidence})" for hit in found[1:])
            why = f"found by {found[0].evidence}"
            self._add(found[0].record, f"{why}; also possible: {others}" if others else why)
            self.chosen_goal = found[0].record
            if self.config.plugin_of(found[0].record.name) == found[0].record.name:
                given = {**self.config.options_of(found[0].record.name), **given}
        if self.chosen_goal is not None and self.chosen_goal.entry is not None:
            self._options(self.chosen_goal, given, "options")
        for other in self.config.goals:
            self._other_goal(other)

    def provider(self) -> None:
        """The provider of the configured model."""
        model = self.config.model_name
        origin = self.origins.get("model_name", "default")
        self.plan.model = f"{model} ({origin})"
        usable = [record for record in self.catalog.records("llm") if record.is_usable]
        try:
            record = choose_provider(usable, model)
        except RetraiError as error:
            self._problem("model", error)
            return
        why = f"model {model} ({origin})"
        if origin == "default" and any(other.name == OFFLINE for other in usable):
            why += "; the model offline where no key for it is set"
        self._add(record, why)

    def tools(self) -> None:
        """The configured tools, else the goal's own set with its changes."""
        config, goal = self.config, self.chosen_goal
        why: dict[str, str] = {}
        named = list(config.tools or ())
        if not config.replaces_tools:
            if goal is None:
                return
            why |= dict.fromkeys(goal.default_tools, f"the set of {goal.name}")
            why |= dict.fromkeys(offered_always(config, self.catalog), "offered to every run")
            named = config.added_tools
        why |= dict.fromkeys(named, "tools") | {ALWAYS_THERE: "every run has it"}
        usable = {record.name for record in self.catalog.records("tool") if record.is_usable}
        for name, reason in why.items():
            if config.leaves_out(name):
                continue
            if name in usable or reason == "tools":
                self.named("tool", name, reason)
            else:
                message = f"the goal {goal.name if goal else ''} would like it; it cannot be used"
                self.plan.findings.append(Finding("note", f"tool {name}", message))

    def sandboxes(self) -> None:
        """The named sandbox, or all that `auto` tries."""
        if self.config.sandbox == STRICT_SANDBOX:
            self.named("sandbox", WALLED_SANDBOX, "sandbox: strict")
            return
        if self.config.sandbox != AUTO_SANDBOX:
            self.named("sandbox", self.config.sandbox, "sandbox")
            return
        usable = {record.name for record in self.catalog.records("sandbox") if record.is_usable}
        names = [name for name in SANDBOXES_TO_TRY if name in usable]
        for name in names:
            self.named("sandbox", name, "sandbox: auto takes the first that works here")
        if not names:
            self.plan.findings.append(Finding("problem", "sandbox", "no sandbox can be used"))

    def memory(self) -> None:
        """The memory store; the default one may be missing."""
        name = self.config.memory
        usable = {record.name for record in self.catalog.records("memory") if record.is_usable}
        is_chosen = "memory" in self.config.model_fields_set
        if name != NO_MEMORY and (is_chosen or name in usable):
            self.named("memory", name, "memory")

    def hooks(self) -> None:
        """Every hook that can be used: hooks are called all."""
        for record in self.catalog.records("hook"):
            if record.is_usable:
                self._add(record, f"hooks: {', '.join(record.hooks) or 'not known'}")

    def sinks(self) -> None:
        """Every event sink that can be used."""
        for record in self.catalog.records("sink"):
            if record.is_usable:
                self._add(record, "every event sink hears the run")

    def plugin_options(self) -> None:
        """The `plugins:` section, and names that are switched off and not there."""
        for name, given in sorted(self.config.plugins.items()):
            found = self.catalog.matching(name)
            if not found:
                self._problem(f"plugins.{name}", self.catalog.unknown(name))
            for record in found[:1]:
                if record.entry is not None and record.options:
                    self._options(record, given, f"plugins.{name}")
        dists = {record.dist for record in self.catalog.records()}
        for name in self.config.disabled_plugins:
            if not self.catalog.matching(name) and name not in dists:
                message = "it is switched off, and not installed"
                mend = f"retrai plugins enable {name}"
                self.plan.findings.append(
                    Finding("note", f"disabled_plugins {name}", message, mend)
                )

    def requirements(self) -> None:
        """The pins and the required distributions."""
        for problem in pin_problems(self.config.pins, self.catalog):
            self._problem("pins", problem)
        try:
            unmet = unmet_requirements(self.config.required_plugins, self.catalog)
        except UsageError as error:
            self._problem("required_plugins", error)
            return
        for each in unmet:
            finding = Finding("problem", "required_plugins", each.problem, each.mend)
            self.plan.findings.append(finding)

    def named(self, kind: Kind, name: str, why: str) -> PluginRecord | None:
        """Add a plugin that is chosen by its name; None, and a finding, where it cannot be used."""
        try:
            record = self.catalog.find(kind, name)
            if not record.is_usable:
                raise record.problem()
        except RetraiError as error:
            origin = self.origins.get(why, "")
            self._problem(f"{why} {name} ({origin})" if origin else f"{kind} {name}", error)
            return None
        origin = self.origins.get(why, "")
        self._add(record, f"{why} ({origin})" if origin else why)
        return record

    def _other_goal(self, name: str) -> None:
        """An entry of `goals:` that is not the run's: whether a run of it could begin."""
        plugin = self.config.plugin_of(name)
        found = self.catalog.matching(plugin, "goal")
        if name == self.config.goal:
            return
        if not found:
            self._problem(f"goals.{name}", self.catalog.unknown(plugin, "goal"))
        elif found[0] is not self.chosen_goal and found[0].entry is not None:
            self._options(found[0], self.config.options_of(name), f"goals.{name}")

    def _options(self, record: PluginRecord, given: Mapping[str, Any], where: str) -> None:
        for name in given:
            if name not in record.options:
                known = list(record.options)
                origin = self.origins.get(f"{where}.{name}", "the configuration")
                error = unknown_option(name, record.kind, record.name, known)
                self._problem(f"{name} ({origin})", error)
        missing = [n for n, option in record.options.items() if option.required and n not in given]
        for name in missing:
            finding = Finding(
                "problem",
                f"{record.kind} {record.name}",
                f"its option {name} must be given",
                f"retrai plugins show {record.name}",
            )
            self.plan.findings.append(finding)

    def _no_goal(self, project: Path) -> None:
        brings = self.catalog.installable_for(project)
        mend = f"pip install {' '.join(brings)}" if brings else "name one: `goal:` in .retrai.yml"
        finding = Finding("problem", "goal", f"no installed goal fits {project}", mend)
        self.plan.findings.append(finding)

    def _add(self, record: PluginRecord, why: str) -> None:
        self.plan.parts.append(PlannedPart(record, why))

    def _problem(self, about: str, error: RetraiError) -> None:
        self.plan.findings.append(Finding("problem", about, error.message, error.hint))
