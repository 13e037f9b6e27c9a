"""Which plugins a run uses: decided and loaded before anything is built or started."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeVar, cast

from pydantic import BaseModel, ValidationError

from .chosen import CheckChoice, Choice, ModelChoice, Notice, Part
from .contracts.agent import Agent
from .contracts.context import RunContext
from .contracts.goal import Detection, GoalBase
from .contracts.llm import LLMProvider
from .contracts.memory import MemoryStore
from .contracts.sandbox import Sandbox
from .contracts.tool import Tool
from .errors import PluginError, UsageError, nearest
from .loop.graph import completed
from .origins import origin_of
from .plugin_answers import asked, checked_options
from .plugins.catalog import Catalog
from .plugins.kinds import Kind
from .plugins.offered import offered_always
from .plugins.pinning import pin_problems
from .plugins.record import PluginRecord
from .plugins.required import require_plugins
from .plugins.standard_names import (
    ALWAYS_THERE,
    AUTO_SANDBOX,
    NO_MEMORY,
    OFFLINE,
    SANDBOXES_TO_TRY,
    STRICT_SANDBOX,
    WALLED_SANDBOX,
)
from .run_config import TASK, USE, RunConfig, is_agent_limit
from .unheeded import refuse_unheeded, unheeded
from .workspace.interpreter import find_interpreter
from .workspace.safe_paths import SafeWorkspace

T = TypeVar("T")

NO_KEY_HINT = "`--model offline` needs no key"


def choose(
    config: RunConfig, run_dir: Path, catalog: Catalog | None = None, *, attended: bool = True
) -> Choice:
    """Decide on every part of the run, load it and check its options; nothing is built.

    Args:
        config: what the user asked for.
        catalog: what `catalog_for` found, where somebody watches what is loaded.
        run_dir: the run's own folder; of a run that is resumed, with all that it kept there.
        attended: as `RunContext.attended`.

    Raises:
        UsageError: a name, an option or a setting that nobody knows; a model that is not ready.
        PluginError: a plugin that this run needs is broken, incompatible or ambiguous.
    """
    chooser = _Chooser(config, run_dir, catalog or catalog_for(config), attended=attended)
    agent = chooser.agent()
    given = chooser.input(agent)
    goal, evidence = chooser.goal_of(agent)
    provider, model = chooser.provider(agent.cls.default_model)
    config = chooser.config.model_copy(update={"model_name": model})
    return Choice(
        config=config,
        catalog=chooser.catalog,
        goal=goal,
        goal_evidence=evidence,
        provider=provider,
        agent=agent,
        input=given,
        tools=chooser.tools(agent, goal),
        sandboxes=chooser.sandboxes(),
        memory=chooser.memory(),
        interpreter=find_interpreter(config.cwd, config.python),
        notices=chooser.notices,
        attended=attended,
    )


def choose_check(config: RunConfig, run_dir: Path) -> CheckChoice:
    """Decide on what a check alone needs: no model, no tools, no agent.

    Raises:
        UsageError, PluginError: as `choose`.
    """
    chooser = _Chooser(config, run_dir, catalog_for(config))
    goal, _ = chooser.goal()
    return CheckChoice(
        config=chooser.config,
        catalog=chooser.catalog,
        goal=goal,
        sandboxes=chooser.sandboxes(),
        interpreter=find_interpreter(config.cwd, config.python),
        notices=chooser.notices,
    )


def choose_model(
    config: RunConfig, run_dir: Path, catalog: Catalog, *, attended: bool = True
) -> ModelChoice:
    """Decide on what asking a model about a project needs: no goal, no tools, no agent.

    Raises:
        UsageError, PluginError: as `choose`.
    """
    chooser = _Chooser(config, run_dir, catalog, attended=attended)
    provider, model = chooser.provider(OFFLINE)
    return ModelChoice(
        config=config.model_copy(update={"model_name": model}),
        catalog=catalog,
        provider=provider,
        sandboxes=chooser.sandboxes(),
        interpreter=find_interpreter(config.cwd, config.python),
        notices=chooser.notices,
    )


def choose_provider(
    config: RunConfig,
    run_dir: Path,
    catalog: Catalog,
    *,
    attended: bool = True,
    has_key: bool = False,
) -> Part[LLMProvider]:
    """The provider of the configuration's model alone, which is ready to be asked.

    With `has_key`, the caller has a key for the model: that no other is set is no problem.

    Raises:
        UsageError, PluginError: as `choose`.
    """
    named = config.model_copy(update={"model_name": config.model_name})
    chooser = _Chooser(named, run_dir, catalog, attended=attended)
    return chooser.provider_of(config.model_name) if has_key else chooser.provider(None)[0]


def model_taken(config: RunConfig) -> str:
    """The model that a run would take: the agent's own where none was chosen and no key is set.

    Raises:
        UsageError, PluginError: as `choose`.
    """
    chooser = _Chooser(config, Path(), catalog_for(config))
    return chooser.provider(chooser.agent().cls.default_model)[1]


def validated_input(agent: type[Agent], given: Mapping[str, Any]) -> BaseModel:
    """What an agent is given, as it declares it.

    Raises:
        UsageError: a field is missing, wrong, or none of the agent's.
    """
    fields = list(agent.Input.model_fields)
    takes = f"takes {', '.join(fields)}" if fields else "takes no input"
    for name in given:
        if name not in fields:
            raise UsageError(f"{name}: the agent {agent.name} {takes}{nearest(name, fields)}")
    try:
        return agent.Input.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"]) or "the input"
        what = first["msg"].removeprefix("Value error, ")
        got = "" if first["type"] == "missing" else f", got {first['input']!r}"
        raise UsageError(
            f"{name} of the agent {agent.name}: {what.lower()}{got}", hint=f"it {takes}"
        ) from error


def choose_memory(config: RunConfig, catalog: Catalog) -> Part[MemoryStore] | None:
    """The memory store alone, for those who look into it; None where the project has none.

    Raises:
        UsageError: no store has the configured name, or an option is wrong.
        PluginError: it is broken or incompatible.
    """
    return _Chooser(config, Path(), catalog).memory()


def choose_agent(config: RunConfig, catalog: Catalog) -> Part[Agent]:
    """The agent alone with its options, for those who look at it.

    Raises:
        UsageError: no agent has the configured name, or an option is wrong.
        PluginError: it is broken or incompatible.
    """
    return _Chooser(config, Path(), catalog).agent()


def catalog_for(config: RunConfig) -> Catalog:
    """What is installed, as the configuration wants it seen; imports no plugin."""
    return Catalog.scan(pins=config.pins, disabled=config.disabled_plugins)


class _Chooser:
    def __init__(
        self, config: RunConfig, run_dir: Path, catalog: Catalog, *, attended: bool = True
    ) -> None:
        self.config = config
        self.attended = attended
        self.run_dir = run_dir
        self.catalog = catalog
        for problem in pin_problems(config.pins, self.catalog):
            raise problem
        require_plugins(config.required_plugins, self.catalog)
        refuse_unheeded(config, self.catalog)
        self.notices = unheeded(config, self.catalog, os.environ)

    def part(
        self, kind: Kind, name: str, base: type[T], options: Mapping[str, Any] | None = None
    ) -> Part[T]:
        """Find, load and check the options of one plugin."""
        return self._loaded(self.catalog.find(kind, name), base, options)

    def input(self, agent: Part[Agent]) -> BaseModel:
        """What the agent is given; its `task` and the setting of that name are one."""
        given, task = dict(self.config.input), self.config.task
        takes_task = TASK in agent.cls.Input.model_fields
        if takes_task and task:
            given.setdefault(TASK, task)
        valid = validated_input(agent.cls, given)
        if takes_task:
            task = str(getattr(valid, TASK))
        elif task and not agent.cls.requires_goal:
            self._note("warning", f"task: the agent {agent.record.name} takes none")
        if (given, task) != (self.config.input, self.config.task):
            self.config = self.config.model_copy(update={"input": given, TASK: task})
        return valid

    def goal_of(self, agent: Part[Agent]) -> tuple[Part[GoalBase] | None, str]:
        """The run's goal; none where the agent needs none and none is named."""
        if self.config.goal is None and not agent.cls.requires_goal:
            return None, ""
        return self.goal()

    def goal(self) -> tuple[Part[GoalBase], str]:
        """The named goal, or the first that the project shows a sign of, with the evidence."""
        if (name := self.config.goal) is not None:
            own = [each for each, entry in self.config.goals.items() if USE in entry]
            plugin = self.config.plugin_of(name)
            if not self.catalog.matching(plugin, "goal"):
                raise self.catalog.unknown(plugin, "goal", () if name in own else own)
            record = self.catalog.find("goal", plugin)
            return self._goal_part(record, name if name in own else record.name), ""
        found: list[tuple[PluginRecord, str, Mapping[str, Any]]] = []
        for hit in self.catalog.detect(self.config.cwd):
            try:
                cls = cast("type[GoalBase]", self.catalog.load(hit.record))
            except PluginError as error:
                # A broken goal that only shares a marker keeps no working one from being found.
                self._note("warning", error.message)
                continue
            try:
                detection = asked(
                    hit.record, partial(cls.detect, self.config.cwd), Detection | None
                )
            except PluginError as error:
                self._note("warning", error.message)
                continue
            if detection is not None:
                found.append((hit.record, detection.evidence or hit.evidence, detection.options))
        if not found:
            raise self._no_goal()
        record, evidence, options = found[0]
        others = ", ".join(f"{other.name} ({why})" for other, why, _ in found[1:])
        note = f"goal {record.name}, found by {evidence}"
        self._note("info", f"{note}; also possible: {others}" if others else note)
        return self._goal_part(record, record.name, options), evidence

    def provider(self, default: str | None) -> tuple[Part[LLMProvider], str]:
        """The model's provider; that of `default` where nothing was chosen and no key is set."""
        model = self.config.model_name
        part = self.provider_of(model)
        problem = self._problem_with(part, model)
        if problem is None:
            return part, model
        chosen = "model_name" in self.config.model_fields_set
        other = None if chosen or default is None else self._default_part(default)
        if other is None or default is None:
            named = f"{model}{self._origin_of(model)}"
            raise UsageError(f"the model {named} cannot be used: {problem}", hint=NO_KEY_HINT)
        does = ": it mends Python by searching for small edits, writes no new features"
        self._note(
            "info",
            f"model {default}, since no key for {model} is set{does if default == OFFLINE else ''}"
            "; --model NAME takes another",
        )
        return other, default

    def _default_part(self, model: str) -> Part[LLMProvider] | None:
        """The provider of an agent's default model, where it is installed and ready."""
        try:
            record = self.catalog.provider_for(model)
        except (UsageError, PluginError):
            return None
        part = self._loaded(record, LLMProvider, None) if record.is_usable else None
        return None if part is None or self._problem_with(part, model) else part

    def agent(self) -> Part[Agent]:
        """The agent with its options; its limits are the run's already."""
        name = self.config.agent
        entry = self.config.agents.get(name, {})
        own = {key: value for key, value in entry.items() if not is_agent_limit(key)}
        part = self.part("agent", name, Agent, {**self.config.plugins.get(name, {}), **own})
        return replace(part, cls=completed(part.cls))

    def tools(self, agent: Part[Agent], goal: Part[GoalBase] | None) -> list[Part[Tool]]:
        """The tools that the configuration names, else the set of the goal, or of the agent where
        there is none, with its changes."""
        config, installed = self.config, self.catalog.records("tool")
        self._check_left_out()
        if config.replaces_tools:
            names = list(config.tools or ())
        else:
            known = {record.name for record in installed if record.is_usable}
            default = (goal or agent).cls.default_tools
            missing = [name for name in default if name not in known]
            for why in self.catalog.why_without("tool", missing):
                self._note("warning", f"the model goes without {why}")
            names = [name for name in default if name in known]
            names += [*offered_always(config, self.catalog), *config.added_tools]
        names = [name for name in names if not config.leaves_out(name)]
        names += [] if goal is None else [ALWAYS_THERE]
        return [self.part("tool", name, Tool) for name in dict.fromkeys(names)]

    def sandboxes(self) -> list[Part[Sandbox]]:
        """The named sandbox, or all that `auto` may try, the strictest first."""
        if self.config.sandbox == STRICT_SANDBOX:
            return [self.part("sandbox", WALLED_SANDBOX, Sandbox)]
        if self.config.sandbox != AUTO_SANDBOX:
            return [self.part("sandbox", self.config.sandbox, Sandbox)]
        installed = self._usable("sandbox")
        names = [n for n in SANDBOXES_TO_TRY if n in installed]
        return [self.part("sandbox", name, Sandbox) for name in names]

    def memory(self) -> Part[MemoryStore] | None:
        """The memory store; none where the default one is not installed."""
        name = self.config.memory
        if name == NO_MEMORY:
            return None
        installed = self._usable("memory")
        if "memory" not in self.config.model_fields_set and name not in installed:
            return None
        return self.part("memory", name, MemoryStore)

    def _check_left_out(self) -> None:
        """Refuse to leave out what nobody knows; what comes at run time has a dot in its name."""
        for name in self.config.left_out:
            if name == ALWAYS_THERE:
                setting = "no_tools" if name in self.config.no_tools else "tools"
                raise UsageError(f"{setting}: every run has the tool {name}")
            comes_later = any(mark in name for mark in ".*?[")
            if not comes_later and not self.catalog.matching(name, "tool"):
                raise self.catalog.unknown(name, "tool")

    def _usable(self, kind: Kind) -> set[str]:
        return {record.name for record in self.catalog.records(kind) if record.is_usable}

    def provider_of(self, model: str) -> Part[LLMProvider]:
        """Who serves the model, ready or not."""
        try:
            record = self.catalog.provider_for(model)
        except UsageError as error:
            named = f"{error.message}{self._origin_of(model)}"
            raise UsageError(named, hint=error.hint) from error
        return self._loaded(record, LLMProvider, None)

    def _problem_with(self, part: Part[LLMProvider], model: str) -> str | None:
        """What the provider says of the model, before there is a run to build it for."""
        project = self.config.cwd
        context = RunContext(
            self.run_dir.name,
            project,
            SafeWorkspace(project),
            "",
            self.run_dir,
            attended=self.attended,
        )
        try:
            ready = partial(_ready, part, context, model)
            return asked(part.record, ready, str | None)
        except UsageError as error:
            # The provider knows its own models only; the name may be near another provider's.
            llms = self.catalog.records("llm")
            if off := [r for r in llms if model in r.model_patterns and not r.is_usable]:
                raise off[0].problem() from error
            exact = sorted({p for r in llms for p in r.model_patterns if "*" not in p})
            near = "" if "did you mean" in str(error) else nearest(model, exact)
            named = f"{error.message}{near}{self._origin_of(model)}"
            raise UsageError(named, hint=error.hint) from error

    def _origin_of(self, model: str) -> str:
        return origin_of(self.config.cwd, "model_name", model)

    def _goal_part(
        self, record: PluginRecord, name: str, detected: Mapping[str, Any] = MappingProxyType({})
    ) -> Part[GoalBase]:
        """The goal with its options: found with it, of its name, of the run; the later count more.

        What it gets is kept with the run, which may go on when the files say something else.
        """
        config, cls = self.config, cast("type[GoalBase]", self.catalog.load(record))
        given = {**detected, **config.options}
        if config.plugin_of(name).partition("@")[0] == record.name:
            given = {**detected, **config.options_of(name), **config.options}
        update: dict[str, Any] = {"goal": name, "options": given}
        if config.task and TASK in cls.Options.model_fields and TASK not in config.options:
            given[TASK], update[TASK] = config.task, ""
            update["input"] = {key: value for key, value in config.input.items() if key != TASK}
        self.config = config.model_copy(update=update)
        return Part(record, cls, checked_options(record, cls, given, config.cwd, name))

    def _no_goal(self) -> UsageError:
        error = self.catalog.no_goal_for(self.config.cwd)
        own = next((name for name, entry in self.config.goals.items() if USE in entry), None)
        return error if own is None else UsageError(error.message, hint=f"`retrai run {own}`")

    def _loaded(
        self, record: PluginRecord, base: type[T], options: Mapping[str, Any] | None
    ) -> Part[T]:
        cls = cast("type[T]", self.catalog.load(record))
        given = self.config.plugins.get(record.name, {}) if options is None else options
        return Part(record, cls, checked_options(record, cls, given, self.config.cwd))

    def _note(self, level: Literal["info", "warning"], message: str) -> None:
        self.notices.append(Notice(level, message))


def _ready(part: Part[LLMProvider], context: RunContext, model: str) -> str | None:
    return part.cls(part.options, context).ready(model)
