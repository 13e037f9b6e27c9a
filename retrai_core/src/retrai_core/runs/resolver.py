"""Resolves settings with their origins into a run: selects its plugins and loads them.

It serves the run itself, a check, `retrai config show` and the doctor. A caller resolves only what
it needs. `wanted_...` reads the manifests alone; the other methods import the plugins that they
return.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, cast, get_args

from pydantic import BaseModel, ValidationError

from ..agents.goal_loop.graph import completed
from ..config.model import (
    NEEDS,
    TASK,
    USE,
    agent_limits,
    explained_options,
    is_agent_limit,
    unknown_option,
)
from ..config.option_names import own_name, own_names
from ..config.sources import Settings, misspelt_variables
from ..contracts.agent import Agent
from ..contracts.context import RunContext
from ..contracts.goal import Detection, GoalBase
from ..contracts.llm import LLMProvider
from ..contracts.memory import MemoryStore
from ..contracts.needs import Need
from ..contracts.sandbox import Sandbox
from ..contracts.tool import Tool
from ..errors import PluginError, RetraiError, UsageError, nearest
from ..plugins.answers import ask_plugin
from ..plugins.catalog import Catalog
from ..plugins.detect import DetectedGoal
from ..plugins.kinds import Kind
from ..plugins.offered import offered_always
from ..plugins.pinning import pin_problems
from ..plugins.record import PluginRecord
from ..plugins.required import require_plugins
from ..plugins.standard_names import (
    ALWAYS_THERE,
    AUTO_SANDBOX,
    MCP,
    NO_MEMORY,
    OFFLINE,
    SANDBOXES_TO_TRY,
    STRICT_SANDBOX,
    WALLED_SANDBOX,
)
from ..plugins.switches import switch_for
from ..workspace.interpreter import find_interpreter
from .resolved_run import Notice, Part, ResolvedRun, make_context

T = TypeVar("T")

_NO_KEY_HINT = "`--model offline` needs no key"
_SECRETS = "secrets:"


class ModelNotReadyError(UsageError):
    """A provider knows the model, and cannot use it as things are: its key is not set, say."""


class Wanted(NamedTuple):
    """A plugin that a run needs, by name.

    Attributes:
        kind: its kind.
        name: its name, or `name@distribution`.
        why: why the run wants it, for people.
        setting: the setting that names it; empty where none does.
    """

    kind: Kind
    name: str
    why: str
    setting: str = ""


class Resolver:
    """Selects the parts of one run.

    Args:
        settings: the merged configuration, and where each value comes from.
        catalog: what is installed, where the caller has looked already.
        run_dir: the run's own folder; of a run that is resumed, with all that it kept there.
        attended: as `RunContext.attended`.

    Attributes:
        config: the configuration, in which goal, options and model are filled in as they are found.
        notices: what the user should know about it.
    """

    def __init__(
        self,
        settings: Settings,
        catalog: Catalog | None = None,
        *,
        run_dir: Path | None = None,
        attended: bool = True,
    ) -> None:
        self.settings = settings
        self.config = settings.config
        self.catalog = catalog or Catalog.of(settings)
        self.notices: list[Notice] = []
        self._run_dir = run_dir or Path()
        self._attended = attended

    # What a run, a check and a question to a model are built from

    def run(self) -> ResolvedRun:
        """Every part of the run, loaded, its options validated; nothing is built.

        Raises:
            UsageError: a name, an option or a setting that nobody knows; a model that is not ready.
            PluginError: a plugin that this run needs is broken, incompatible or ambiguous.
        """
        self._begin()
        agent = self.agent()
        self._take_limit(agent)
        given = self._input(agent)
        goal, evidence = None, ""
        if self.config.goal is not None or agent.cls.requires_goal:
            goal, evidence = self.goal()
        return self._resolved(
            agent=agent,
            input=given,
            goal=goal,
            goal_evidence=evidence,
            provider=self.provider(agent.cls.default_model),
            tools=self.tools(agent, goal),
            sandboxes=self.sandboxes(),
            memory=self.memory(),
        )

    def check(self) -> ResolvedRun:
        """What a check alone needs: no model, no tools, no agent."""
        self._begin()
        goal, evidence = self.goal()
        return self._resolved(goal=goal, goal_evidence=evidence, sandboxes=self.sandboxes())

    def model_only(self) -> ResolvedRun:
        """What asking a model about a project needs: no goal, no tools, no agent."""
        self._begin()
        return self._resolved(provider=self.provider(OFFLINE), sandboxes=self.sandboxes())

    def memory_only(self) -> ResolvedRun:
        """What looking into the memory store needs."""
        self._begin()
        return self._resolved(memory=self.memory())

    def model_name(self) -> str:
        """The model that a run would take: the agent's own where none was set and no key is."""
        self._begin()
        self.provider(self.agent().cls.default_model)
        return self.config.model_name

    def shown_model(self) -> str:
        """As `model_name`; the one that is set where a run would say what is wrong with it."""
        if "model_name" not in self.config.model_fields_set:
            with suppress(RetraiError):
                return self.model_name()
        return self.config.model_name

    def _resolved(self, **parts: Any) -> ResolvedRun:
        config = self.config
        runs = "sandboxes" in parts
        return ResolvedRun(
            config=config,
            settings=self.settings,
            catalog=self.catalog,
            interpreter=find_interpreter(config.cwd, config.python) if runs else None,
            notices=self.notices,
            attended=self._attended,
            **parts,
        )

    def _begin(self) -> None:
        for problem in self.problems():
            raise problem
        for line in self.warnings():
            self._note("warning", line)

    # From the manifests alone

    def wanted_goals(self) -> list[Wanted]:
        """The named goal, or all that the project shows a sign of, the likeliest first.

        Raises:
            UsageError: there is none.
        """
        if (name := self.config.goal) is not None:
            plugin = self.config.plugin_of(name)
            setting = "goal" if plugin == name else f"goals.{name}.{USE}"
            return [Wanted("goal", plugin, setting, setting)]
        return [
            Wanted("goal", hit.record.full_name, f"found by {hit.evidence}")
            for hit in self._found_goals()
        ]

    def wanted_model(self) -> list[Wanted]:
        """The provider of the configured model, as the manifests have it."""
        record = self.catalog.provider_for(self.config.model_name, loads=False)
        why = f"model {self.config.model_name}"
        if "model_name" not in self.config.model_fields_set and self._usable("llm") & {OFFLINE}:
            why += "; the model offline where no key for it is set"
        return [Wanted("llm", record.full_name, why, "model_name")]

    def wanted_agent(self, name: str = "") -> list[Wanted]:
        """The agent of this name, or the run's."""
        return [Wanted("agent", name or self.config.agent, "agent", "agent")]

    def wanted_tools(self, default: Iterable[str], of: str, *, is_checked: bool) -> list[Wanted]:
        """The tools that the configuration names, else the default set with its changes.

        Args:
            default: the tools of the goal, or of the agent where there is no goal.
            of: the one whose set that is.
            is_checked: the run has a goal.
        """
        config, wanted = self.config, dict[str, Wanted]()

        def add(names: Iterable[str], why: str, setting: str = "") -> None:
            for name in names:
                wanted.setdefault(name, Wanted("tool", name, why, setting))

        self._refuse_left_out()
        if config.replaces_tools:
            add(config.tools or (), "tools", "tools")
        else:
            usable, default = self._usable("tool"), list(default)
            missing = [name for name in default if name not in usable]
            for line in self.catalog.why_without("tool", missing):
                self._note("warning", f"the model goes without {line}")
            add((name for name in default if name in usable), f"the set of {of}")
            add(offered_always(config, self.catalog), "offered to every run")
            add(config.added_tools, "tools", "tools")
        kept = [each for name, each in wanted.items() if not config.leaves_out(name)]
        if is_checked and ALWAYS_THERE not in {each.name for each in kept}:
            kept.append(Wanted("tool", ALWAYS_THERE, "every run has it"))
        return kept

    def wanted_sandboxes(self) -> list[Wanted]:
        """The named sandbox, or all that `auto` may try, the strictest first."""
        name = self.config.sandbox
        if name != AUTO_SANDBOX:
            plugin = WALLED_SANDBOX if name == STRICT_SANDBOX else name
            return [Wanted("sandbox", plugin, f"sandbox: {name}", "sandbox")]
        usable, why = self._usable("sandbox"), "sandbox: auto takes the first that works here"
        return [Wanted("sandbox", name, why) for name in SANDBOXES_TO_TRY if name in usable]

    def wanted_memory(self) -> list[Wanted]:
        """The memory store; none where the default one is not installed."""
        name, is_set = self.config.memory, "memory" in self.config.model_fields_set
        if name == NO_MEMORY or not (is_set or name in self._usable("memory")):
            return []
        return [Wanted("memory", name, "memory", "memory")]

    def find(self, wanted: Wanted) -> PluginRecord:
        """The plugin that is wanted.

        Raises:
            UsageError: none has the name; the message says where it stands.
            PluginError: several have it.
        """
        kind, name, _, setting = wanted
        if not self.catalog.matching(name, kind):
            raise self._unknown(kind, name, setting)
        return self.catalog.find(kind, name)

    def problems(self) -> Iterator[RetraiError]:
        """What keeps every run from beginning: what is required and missing, what nobody heeds."""
        config, origin = self.config, self.settings.origin
        yield from pin_problems(config.pins, self.catalog)
        try:
            require_plugins(config.required_plugins, self.catalog)
        except RetraiError as error:
            yield error
        for name, given in config.plugins.items():
            matching = [r for r in self.catalog.records() if name in (r.name, r.full_name)]
            where = origin(f"plugins.{name}")
            if not matching:
                every = self.catalog.records()
                known = sorted({n for r in every for n in (r.name, r.full_name)})
                yield UsageError(
                    f"plugins: no plugin is called `{name}`{nearest(name, known)}{where}",
                    hint="`retrai plugins list` shows all",
                )
            elif {record.kind for record in matching} == {"goal"}:
                yield UsageError(
                    f"plugins: {name} is a goal, whose options stand at the top level{where}",
                    hint=f"move {', '.join(map(str, given)) or 'them'} there, "
                    f"beside `goal: {name}`",
                )
        if config.mcp and MCP not in self._usable("hook"):
            yield UsageError(
                "mcp: is set, but no plugin that speaks to MCP servers is installed",
                hint="`pip install retrai-mcp`",
            )
        known = {*get_args(Need), *(n for r in self.catalog.records("tool") for n in r.needs or ())}
        for verdict, rule in config.rules():
            need = rule.removeprefix(NEEDS).strip()
            if rule.startswith(NEEDS) and need not in known and not need.startswith(_SECRETS):
                yield UsageError(
                    f"permissions: {verdict}: `{rule}`: no tool needs that"
                    f"{nearest(need, sorted(known))}",
                    hint=f"a tool may need {', '.join(get_args(Need))}",
                )

    def warnings(self) -> Iterator[str]:
        """Names that do nothing: switched off, below `goals:` and `agents:`, in the environment."""
        config, origin = self.config, self.settings.origin
        plugins = [(record.name, record.dist) for record in self.catalog.records()]
        known = sorted({name for plugin in plugins for name in plugin})
        for name in config.disabled_plugins:
            if not any(switch_for([name], *plugin) for plugin in plugins):
                what = f"{name} is neither a plugin nor a distribution{nearest(name, known)}"
                yield f"disabled_plugins: {what}{origin(f'disabled_plugins.{name}')}"
        known = sorted({record.name for record in self.catalog.records("goal")})
        for name, entry in config.goals.items():
            plugin = config.plugin_of(name)
            if name != config.goal and not self.catalog.matching(plugin, "goal"):
                what = f"no goal is called {plugin}{nearest(plugin, known)}"
                if USE not in entry:
                    what += f"; `{USE}: GOAL` below {name} says how a check of your own is made"
                yield f"goals.{name}: {what}{origin(f'goals.{name}')}"
        known = sorted({record.name for record in self.catalog.records("agent")})
        for name in config.agents:
            if name not in known:
                what = f"no agent is called {name}{nearest(name, known)}"
                yield f"agents: {what}{origin(f'agents.{name}')}"
        yield from misspelt_variables(os.environ)

    # Part by part

    def part(
        self,
        record: PluginRecord,
        base: type[T],
        given: Mapping[str, Any] | None = None,
        called: str = "",
    ) -> Part[T]:
        """Load a plugin, and validate its options.

        Args:
            record: the plugin.
            base: the class of its contract.
            given: its options; what stands under `plugins:` when left out.
            called: its name in the configuration, where that is another.

        Raises:
            UsageError: it has no such option, or not with this value.
            PluginError: it cannot be loaded.
        """
        cls: Any = self.catalog.load(record)
        given = self.config.plugins.get(record.name, {}) if given is None else given
        model, called = cast("type[BaseModel]", cls.Options), called or record.name
        title = called if called == record.name else f"{called} ({record.name})"

        def origin(option: str) -> str:
            keys = (f"{record.kind}s.{called}.{option}", f"plugins.{called}")
            own = (f"options.{option}",) if record.kind == "goal" else ()
            return self.settings.origin(*own, *keys)

        named = own_names(model, given, origin, f"the {record.kind} {title}")
        for name in named.options:
            if name not in model.model_fields:
                known = [*model.model_fields, *(agent_limits() if record.kind == "agent" else ())]
                raise unknown_option(name, record.kind, record.name, known, origin(name), title)
        try:
            return Part(record, cls, model.model_validate(named.options))
        except ValidationError as error:
            raise explained_options(
                error, record.kind, record.name, title, origin, named.written
            ) from error

    def goal(self) -> tuple[Part[GoalBase], str]:
        """The named goal, or the first that takes the project, with the evidence."""
        if self.config.goal is not None:
            name, record = self.config.goal, self.find(self.wanted_goals()[0])
            is_own = USE in self.config.goals.get(name, {})
            return self._goal_part(record, name if is_own else record.name, {}), ""
        found: list[tuple[PluginRecord, str, Mapping[str, Any]]] = []
        for hit in self._found_goals():
            record = hit.record
            try:
                cls = cast("type[GoalBase]", self.catalog.load(record))
                detect = partial(cls.detect, self.config.cwd)
                detection = ask_plugin(record, detect, Detection | None)
            except PluginError as error:
                # A broken goal that only shares a marker keeps no working one from being found.
                self._note("warning", error.message)
                continue
            if detection is not None:
                found.append((record, detection.evidence or hit.evidence, detection.options))
        if not found:
            raise self._no_goal()
        record, evidence, options = found[0]
        others = ", ".join(f"{other.name} ({why})" for other, why, _ in found[1:])
        note = f"goal {record.name}, found by {evidence}"
        self._note("info", f"{note}; also possible: {others}" if others else note)
        return self._goal_part(record, record.name, options), evidence

    def provider(self, default: str | None = None) -> Part[LLMProvider]:
        """The provider of the model; that of `default` where none was set, and no key is there or
        nothing installed serves it.

        The model is then set: the run keeps it, whatever keys there are when it is resumed.
        """
        model = self.config.model_name
        other = None if "model_name" in self.config.model_fields_set else default
        try:
            part = self._provider_of(model)
        except UsageError:
            if other is None or (instead := self._default_part(other)) is None:
                raise
            why = f"nothing that is installed serves {model}"
        else:
            problem = self._problem_with(part, model)
            if problem is None:
                self.config = self.config.model_copy(update={"model_name": model})
                return part
            if other is None or (instead := self._default_part(other)) is None:
                raise self._not_ready(model, problem)
            why = f"no key for {model} is set"
        does = ": it fixes Python by searching for small edits, writes no new features"
        self._note(
            "info",
            f"model {other}, since {why}{does if other == OFFLINE else ''}"
            "; --model NAME takes another",
        )
        self.config = self.config.model_copy(update={"model_name": other})
        return instead

    def provider_of(self, model: str, *, has_key: bool = False) -> Part[LLMProvider]:
        """The provider of any model, ready to be asked.

        Args:
            model: its name.
            has_key: the caller has a key for it: that no other is set is no problem.

        Raises:
            UsageError, PluginError: nobody knows the model, or it is not ready.
        """
        part = self._provider_of(model)
        problem = None if has_key else self._problem_with(part, model)
        if problem is not None:
            raise self._not_ready(model, problem)
        return part

    def require_known(self, model: str) -> None:
        """Refuse a model that nobody knows; that it has no key here is no problem.

        Raises:
            UsageError, PluginError: nobody knows it, or its provider is broken.
        """
        self._problem_with(self._provider_of(model), model)

    def agent(self, name: str = "") -> Part[Agent]:
        """The agent of this name, or the run's, with its options; limits are the run's already."""
        name = name or self.config.agent
        record = self.find(self.wanted_agent(name)[0])
        entry = self.config.agents.get(name, {})
        own = {key: value for key, value in entry.items() if not is_agent_limit(key)}
        part = self.part(record, Agent, {**self.config.plugins.get(name, {}), **own}, name)
        return replace(part, cls=completed(part.cls))

    def tools(self, agent: Part[Agent], goal: Part[GoalBase] | None) -> list[Part[Tool]]:
        """The tools that are known before the run."""
        of = goal or agent
        wanted = self.wanted_tools(of.cls.default_tools, of.record.name, is_checked=bool(goal))
        return [self.part(self.find(each), Tool) for each in wanted]

    def sandboxes(self) -> list[Part[Sandbox]]:
        """The sandboxes to try, the strictest first."""
        return [self.part(self.find(each), Sandbox) for each in self.wanted_sandboxes()]

    def memory(self) -> Part[MemoryStore] | None:
        """The memory store; None where the project has none."""
        found = [self.part(self.find(each), MemoryStore) for each in self.wanted_memory()]
        return found[0] if found else None

    # Goals

    def require_known_options(self) -> None:
        """Refuse an option that none of the wanted goals has, as far as their manifests tell.

        Raises:
            UsageError: there is such an option, or no goal to give it to.
            PluginError: the goal cannot be used, or several have its name.
        """
        goal, given = self.config.goal, dict(self.config.options)
        if goal is not None:
            given |= self.config.options_of(goal)
        records = [self.find(wanted) for wanted in self.wanted_goals()] if given else []
        for name in given:
            if any(r.entry is None or r.option_name(name) is not None for r in records):
                continue
            plugin, known = records[0].name, list(records[0].options)
            origin = self.settings.origin(f"options.{name}", f"goals.{goal}.{name}")
            raise unknown_option(name, "goal", plugin, known, origin)

    def _found_goals(self) -> list[DetectedGoal]:
        found = self.catalog.detect(self.config.cwd)
        if not found:
            raise self._no_goal()
        return found

    def _no_goal(self) -> UsageError:
        error = self.catalog.no_goal_for(self.config.cwd)
        own = next((name for name, entry in self.config.goals.items() if USE in entry), None)
        return error if own is None else UsageError(error.message, hint=f"`retrai run {own}`")

    def _goal_part(
        self, record: PluginRecord, name: str, detected: Mapping[str, Any]
    ) -> Part[GoalBase]:
        """The goal with its options: found with it, of its name, of the run; the later count more.

        What it gets is kept with the run, which may go on when the files say something else.
        """
        config, cls = self.config, cast("type[GoalBase]", self.catalog.load(record))
        is_named = config.plugin_of(name).partition("@")[0] == record.name
        given = {**detected, **(config.options_of(name) if is_named else {})}
        stronger = {own_name(cls.Options, option) or option for option in config.options}
        given = {
            option: value
            for option, value in given.items()
            if (own_name(cls.Options, option) or option) not in stronger
        } | config.options
        update: dict[str, Any] = {}
        task = own_name(cls.Options, TASK)
        if config.task and task is not None and task not in stronger:
            given[TASK], update[TASK] = config.task, ""
            update["input"] = {key: value for key, value in config.input.items() if key != TASK}
        part = self.part(record, GoalBase, given, name)
        update |= {"goal": name, "options": own_names(cls.Options, given).options}
        self.config = config.model_copy(update=update)
        return part

    # Agents

    def _take_limit(self, agent: Part[Agent]) -> None:
        """The agent's own `max_iterations` where none was set; the run keeps it."""
        limit = agent.cls.default_max_iterations
        if limit is not None and "max_iterations" not in self.config.model_fields_set:
            self.config = self.config.model_copy(update={"max_iterations": limit})

    def _input(self, agent: Part[Agent]) -> BaseModel:
        """What the agent is given; its `task` and the setting of that name are one."""
        given, task = dict(self.config.input), self.config.task
        takes_task = TASK in agent.cls.Input.model_fields
        if takes_task and task:
            given.setdefault(TASK, task)
        valid = _valid_input(agent.cls, given)
        if takes_task:
            task = str(getattr(valid, TASK))
        elif task and not agent.cls.requires_goal:
            self._note("warning", f"task: the agent {agent.record.name} takes none")
        if (given, task) != (self.config.input, self.config.task):
            self.config = self.config.model_copy(update={"input": given, TASK: task})
        return valid

    # Models

    def _default_part(self, model: str) -> Part[LLMProvider] | None:
        """The provider of an agent's default model, where it is installed and ready."""
        try:
            record = self.catalog.provider_for(model)
        except (UsageError, PluginError):
            return None
        part = self.part(record, LLMProvider) if record.is_usable else None
        return None if part is None or self._problem_with(part, model) else part

    def _provider_of(self, model: str) -> Part[LLMProvider]:
        try:
            record = self.catalog.provider_for(model)
        except UsageError as error:
            named = f"{error.message}{self._model_origin(model)}"
            raise UsageError(named, hint=error.hint) from error
        return self.part(record, LLMProvider)

    def _problem_with(self, part: Part[LLMProvider], model: str) -> str | None:
        """What the provider says of the model, before there is a run to build it for."""
        context = make_context(self.config, self._run_dir, attended=self._attended)
        try:
            ready = partial(_ready, part, context, model)
            return ask_plugin(part.record, ready, str | None)
        except UsageError as error:
            # The provider knows its own models only; the name may be near another provider's.
            llms = self.catalog.records("llm")
            if off := [r for r in llms if model in r.model_patterns and not r.is_usable]:
                raise off[0].problem() from error
            exact = sorted({p for r in llms for p in r.model_patterns if "*" not in p})
            near = "" if "did you mean" in str(error) else nearest(model, exact)
            named = f"{error.message}{near}{self._model_origin(model)}"
            raise UsageError(named, hint=error.hint) from error

    def _not_ready(self, model: str, problem: str) -> ModelNotReadyError:
        named = f"{model}{self._model_origin(model)}"
        hint = _NO_KEY_HINT if "key" in problem.lower() else ""
        return ModelNotReadyError(f"the model {named} cannot be used: {problem}", hint=hint)

    def _model_origin(self, model: str) -> str:
        is_set = model == self.settings.config.model_name
        return self.settings.origin("model_name") if is_set else ""

    # Names

    def _unknown(self, kind: Kind, name: str, setting: str) -> UsageError:
        own = [each for each, entry in self.config.goals.items() if USE in entry]
        others = own if kind == "goal" and name not in own and name == self.config.goal else ()
        error = self.catalog.unknown(name, kind, others)
        origin = self.settings.origin(setting) if setting else ""
        return UsageError(f"{error.message}{origin}", hint=error.hint)

    def _refuse_left_out(self) -> None:
        """Refuse to leave out what nobody knows; what comes at run time has a dot in its name."""
        for name in self.config.left_out:
            setting = "no_tools" if name in self.config.no_tools else "tools"
            if name == ALWAYS_THERE:
                raise UsageError(f"{setting}: every run has the tool {name}")
            comes_later = any(mark in name for mark in ".*?[")
            if not comes_later and not self.catalog.matching(name, "tool"):
                raise self._unknown("tool", name, setting)

    def _usable(self, kind: Kind) -> set[str]:
        return {record.name for record in self.catalog.records(kind) if record.is_usable}

    def _note(self, level: Literal["info", "warning"], message: str) -> None:
        self.notices.append(Notice(level, message))


def _ready(part: Part[LLMProvider], context: RunContext, model: str) -> str | None:
    return part.cls(part.options, context).ready(model)


def _valid_input(agent: type[Agent], given: Mapping[str, Any]) -> BaseModel:
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
            f"{name} of the agent {agent.name}: {what.lower()}{got}",
            hint=f"it {takes}, as `input:` in .retrai.yml",
        ) from error
