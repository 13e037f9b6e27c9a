"""The settings of a run with their bounds, and the error messages for wrong values."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
)
from pydantic_core import ErrorDetails

from ..contracts.mcp_server import McpServer, sound_names
from ..contracts.permissions import Permissions
from ..errors import UsageError, nearest
from .files import NO_LIMIT

DEFAULT_MODEL = "claude-sonnet-4-6"
DEFAULT_AGENT = "goal-loop"
USE = "use"
"""In an entry of `goals:`: the installed goal that a check of the project's own is made with."""
TASK = "task"
"""The setting that a goal may declare as an option of its own; the value goes to the goal then."""
AGENT_LIMITS = frozenset({"max_iterations", "max_cost_usd", "max_tokens", "max_time_s"})
"""Settings that an agent may have of its own, under `agents:`."""
NEEDS = "needs:"
"""Begins a rule under `permissions:` that is about what tools need, and not about one by name."""
ONLY_USERS = ("trusted", "store", "engine")
"""Settings that a project's own file cannot give."""
FLAG = "flag"
"""The origin of what the command line gives."""


def new_run_id() -> str:
    """A short random run id, unique enough for one person's runs."""
    return uuid.uuid4().hex[:12]


class RunConfig(BaseModel):
    """The complete configuration of a run."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    goal: str | None = None
    """Name of the goal. Default: detected from the project."""
    cwd: Path = Field(default_factory=Path.cwd)
    """The project's folder."""
    model_name: str = Field(default=DEFAULT_MODEL, alias="model")
    """Name of the model: `offline`, `replay:FILE`, or any name that a provider knows."""
    max_iterations: int = Field(default=50, ge=1, le=100_000)
    """Maximum iterations of plan, act and evaluate."""
    hitl_enabled: bool = False
    """Ask a person after each evaluation that did not achieve the goal."""
    run_id: str = Field(default_factory=new_run_id)
    """The run's id."""
    input: dict[str, Any] = Field(default_factory=dict)
    """Input of the agent, such as a task or a question; its `Input` model names the fields."""
    task: str = ""
    """Extra text for the model in addition to the goal, such as an issue."""
    context_tokens: int = Field(default=4000, ge=0, le=1_000_000)
    """Maximum tokens for the project's tree and key files in the first prompt."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the run's goal; `.retrai.yml` may also set them at the top level."""
    goals: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Options by goal; `use: GOAL` defines a check of the project under a name of its own."""
    plugins: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Options of other plugins, by plugin name."""
    pins: dict[str, str] = Field(default_factory=dict)
    """Distribution to use for a plugin name that two of them offer: `{pytest: my-dist}`."""
    agent: str = DEFAULT_AGENT
    """The agent that works towards the goal."""
    agents: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Options by agent; `load_settings` has already applied the limits among them."""
    memory: str = "file"
    """The memory store; `none` turns memory off."""
    sandbox: str = "auto"
    """The sandbox; `auto` picks the strictest that works, `strict` requires isolation."""
    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    """The model's temperature."""
    tools: list[str] | None = None
    """The tools that the model gets. Default: the goal's default set and those that are always
    offered. `+NAME` and `-NAME` add to that set or remove from it."""
    no_tools: list[str] = Field(default_factory=list)
    """Tools to exclude, by name or by glob (`git.*`)."""
    allow_edit: list[str] = Field(default_factory=list)
    """Globs of protected files that the agent may change."""
    holdout: list[str] = Field(default_factory=list)
    """Globs of tests that the agent never sees."""
    permissions: Permissions | None = None
    """Rules for the tool gates: allow, ask or deny by tool and pattern."""
    required_plugins: dict[str, str] = Field(default_factory=dict)
    """Distributions that must be installed, with their version ranges."""
    disabled_plugins: list[str] = Field(default_factory=list)
    """Disabled plugins: entry points, distributions or `name@distribution`."""
    mcp: Annotated[dict[str, McpServer], AfterValidator(sound_names)] = Field(default_factory=dict)
    """MCP servers whose tools the run gets."""
    python: str | None = None
    """Python interpreter for the project's code. Default: detected from the project."""
    max_cost_usd: float | None = Field(default=None, alias="max_cost", ge=0)
    """Maximum cost of model calls in US dollars; each call counts at its highest possible cost."""
    max_tokens: int | None = Field(default=None, ge=0)
    """Maximum tokens of model calls, input and output together."""
    max_time_s: float | None = Field(default=None, alias="max_time", ge=0)
    """Maximum duration of the run in seconds, excluding time spent waiting for a person."""
    max_tampering: int = Field(default=3, ge=1)
    """Number of refused changes to protected files that ends the run as `tampered`."""
    confirm: int = Field(default=1, ge=1, le=100)
    """Number of times that a passing check must pass again, each time on a fresh clean copy."""
    stop_mode: Literal["soft", "hard"] = "soft"
    """Whether the model writes the hand-over of a run that ends without success, in its last
    iteration; with `hard`, and where the model cannot be asked, retrai does, by rule."""
    insights: bool = True
    """Whether the model is asked after a run what it teaches later ones: one short call."""
    behaviour: bool = True
    """Whether answers beside those of the tests are compared with the ones before the run, and the
    differences reported."""

    store: str = "files"
    """The store that keeps runs; only the user's file and the environment can set it."""
    engine: str = "inline"
    """The engine of programs that do not choose one; only the user's file and the environment can
    set it."""
    trusted: list[str] = Field(default_factory=list)
    """Globs of folders whose projects need no consent; only the user's file can set it."""

    @field_validator("max_cost_usd", "max_tokens", "max_time_s", mode="before")
    @classmethod
    def _lifted(cls, value: object) -> object:
        return None if value == NO_LIMIT else value

    @field_validator("options", "goals", "plugins", "agents", "input")
    @classmethod
    def _finite(cls, value: dict[str, Any]) -> dict[str, Any]:
        """A run is kept as JSON, which has neither `inf` nor `nan`."""
        try:
            json.dumps(value, allow_nan=False, default=str, skipkeys=True)
        except ValueError:
            raise ValueError("a run cannot store `inf` or `nan`") from None
        return value

    @field_validator("goals", "agents", mode="before")
    @classmethod
    def _empty_entries(cls, value: object) -> object:
        """`pytest:` with nothing behind it is an entry without options."""
        if not isinstance(value, dict):
            return value
        entries = cast("dict[object, object]", value)
        empty: dict[str, Any] = {}
        return {name: empty if entry is None else entry for name, entry in entries.items()}

    @field_validator("goals")
    @classmethod
    def _named_goals(cls, value: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        for name, entry in value.items():
            if not isinstance(entry.get(USE, ""), str):
                raise ValueError(f"`{USE}` of {name} names a goal, as in `{USE}: shell-goal`")
        return value

    @field_validator("tools")
    @classmethod
    def _of_one_form(cls, value: list[str] | None) -> list[str] | None:
        if value and len({is_signed(name) for name in value}) > 1:
            raise ValueError(
                "either all names have a sign, and add to the goal's tools (+NAME) or remove from "
                "them (-NAME), or none has one, and the list replaces them"
            )
        return value

    def plugin_of(self, goal: str) -> str:
        """The installed goal that a goal's name means: itself, or what `use:` says."""
        return self.goals.get(goal, {}).get(USE, goal)

    def options_of(self, goal: str) -> dict[str, Any]:
        """The options that a goal is given by its name, without those of the run's goal."""
        entry = self.goals.get(goal, {})
        return {name: value for name, value in entry.items() if name != USE}

    def rules(self) -> list[tuple[str, str]]:
        """Each rule of `permissions:` behind the list that it stands in."""
        if self.permissions is None:
            return []
        lists = ("deny", "ask", "allow")
        return [(verdict, rule) for verdict in lists for rule in getattr(self.permissions, verdict)]

    @property
    def left_out(self) -> list[str]:
        """What the model does not get: `no_tools`, and the names with a minus in `tools`."""
        return [*self.no_tools, *self.removed_tools]

    @property
    def removed_tools(self) -> list[str]:
        """The names with a minus in `tools`."""
        return [name[1:] for name in self.tools or () if name[:1] == "-"]

    @property
    def added_tools(self) -> list[str]:
        """The names with a plus in `tools`."""
        return [name[1:] for name in self.tools or () if name[:1] == "+"]

    @property
    def replaces_tools(self) -> bool:
        """Whether `tools` is a list that the goal's own set does not count beside."""
        return self.tools is not None and not any(map(is_signed, self.tools))

    def leaves_out(self, tool: str) -> bool:
        """Whether `no_tools` names the tool, or `tools` removes it."""
        return any(fnmatchcase(tool, pattern) for pattern in self.left_out)


def is_agent_limit(key: str) -> bool:
    """Whether a key below `agents: NAME:` is a limit of the run, and no option of the agent."""
    return key in AGENT_LIMITS or key in agent_limits()


def agent_limits() -> list[str]:
    """The limits that an agent may have of its own, as a file names them."""
    return sorted(RunConfig.model_fields[name].alias or name for name in AGENT_LIMITS)


def is_signed(name: str) -> bool:
    """Whether a name in `tools` adds or removes."""
    return name[:1] in ("+", "-")


def combined_tools(earlier: Sequence[str] | None, later: Sequence[str]) -> list[str]:
    """`tools` of two sources: a signed list changes what the earlier source says, if it does.

    Example:
        >>> combined_tools(["file_read", "bash_exec"], ["+web_fetch", "-bash_exec"])
        ['file_read', 'web_fetch']
        >>> combined_tools(["+web_fetch"], ["-web_fetch"])
        ['-web_fetch']
    """
    if earlier is None or not later or not all(map(is_signed, later)):
        return list(later)
    if not earlier or not all(map(is_signed, earlier)):
        removed = {name[1:] for name in later if name[0] == "-"}
        added = [name[1:] for name in later if name[0] == "+"]
        return [name for name in dict.fromkeys([*earlier, *added]) if name not in removed]
    changed = {name[1:] for name in later}
    return [*(name for name in earlier if name[1:] not in changed), *later]


def explained(error: ValidationError, origins: Mapping[str, str]) -> UsageError:
    """The first thing that is wrong with a `RunConfig`; what has no origin is a flag."""
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"]) or "configuration"
    top = "model_name" if key == "model" else key.split(".")[0]
    field = RunConfig.model_fields.get(top)
    # Under the name that a person writes: `model`, `max_cost`.
    shown = key.replace(top, field.alias, 1) if field and field.alias else key
    origin = origins.get(key) or origins.get(top, FLAG)
    hint = "correct it there; `retrai config show` lists every setting then"
    if origin == FLAG:
        hint = "`retrai config show` lists every setting"
    if top == "mcp":  # `args`, say, as other programs write it
        hint = f"a server may have {', '.join(McpServer.model_fields)}"
    return UsageError(f"{shown}: {_what(first)}, got {first['input']!r} (from {origin})", hint=hint)


def explained_options(
    error: ValidationError,
    kind: str,
    plugin: str,
    title: str,
    origin: Callable[[str], str],
    written: Mapping[str, str] = MappingProxyType({}),
) -> UsageError:
    """The first thing that is wrong with a plugin's options.

    Args:
        error: what pydantic says.
        kind: the plugin's kind.
        plugin: its name.
        title: what it is called in messages.
        origin: says where an option stands, ` (from FILE)`.
        written: the name that was given, by dotted name, where that is an alias.
    """
    first = error.errors(include_url=False)[0]
    name = _as_written(".".join(str(part) for part in first["loc"]), written)
    # What is wrong with all of them together is not said better by printing them all.
    got = f", got {first['input']!r}" if name and first["type"] != "missing" else ""
    where = origin(name.partition(".")[0])
    return UsageError(
        f"{name or 'the options'} of the {kind} {title}: {_what(first)}{got}{where}",
        hint=f"`retrai plugins show {plugin}` lists its options",
    )


_WHOLE, _NUMBER, _TRUTH = "must be a whole number", "must be a number", "must be true or false"
_WORDS = {
    "missing": "must be given",
    "greater_than_equal": "must be {} or more",
    "less_than_equal": "must be {} or less",
    "greater_than": "must be more than {}",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "bool_type": _TRUTH,
    "bool_parsing": _TRUTH,
    "string_type": "must be text",
    "list_type": "must be a list",
    "dict_type": "must be a mapping",
}
"""By pydantic's type of an error; `{}` is the last word of its message, a limit."""


def _what(error: ErrorDetails) -> str:
    """What is wrong, in our own words where there are any."""
    if error["type"] == "extra_forbidden":
        return "no such key"
    if error["type"] == "value_error":
        return error["msg"].removeprefix("Value error, ")
    if error["type"] in _WORDS:
        return _WORDS[error["type"]].format(error["msg"].rpartition(" ")[2])
    return error["msg"].lower().replace("input should", "must", 1)


def _as_written(name: str, written: Mapping[str, str]) -> str:
    """A dotted name, with the longest part of it that was given as an alias put back."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        if given := written.get(".".join(parts[:end])):
            return ".".join([given, *parts[end:]])
    return name


def unknown_option(
    name: str, kind: str, plugin: str, known: list[str], origin: str = "", title: str = ""
) -> UsageError:
    """The error for a key that is no option of a plugin and, for a goal's, no setting either.

    `origin` says where it stands, ` (from FILE)`; `title` what the plugin is called in messages.
    """
    title = title or plugin
    settings = {*RunConfig.model_fields, "model"} - {"cwd", "run_id", "model_name", "options"}
    every = sorted({*known, *settings} if kind == "goal" else known)
    if kind == "goal" and name in settings:  # only `--option` can bring one here
        where = f"`{name}: VALUE` in .retrai.yml sets it, or its flag: `retrai run --help`"
        return UsageError(f"{name} is a setting, no option of the goal {title}", hint=where)
    what = f"no option of the {kind} {title}"
    if kind == "goal":
        what = f"neither a setting nor an option of the goal {title}"
    return UsageError(
        f"{name}: {what}{nearest(name, every)}{origin}",
        hint=f"`retrai plugins show {plugin}` lists its options",
    )
