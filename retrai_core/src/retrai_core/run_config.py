"""What a run is asked to do, every setting with its bounds, and how a wrong one is told."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
)

from .config_files import NO_LIMIT
from .contracts.mcp_server import McpServer, sound_names
from .contracts.permissions import Permissions
from .errors import UsageError, nearest

DEFAULT_MODEL = "claude-sonnet-4-6"
FLAG = "flag"
"""The origin of what the command line gives."""


def new_run_id() -> str:
    """A short random run id, unique enough for one person's runs."""
    return uuid.uuid4().hex[:12]


class RunConfig(BaseModel):
    """Everything that decides what a run does."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    goal: str | None = None
    """The goal's name; found from the project when left out."""
    cwd: Path = Field(default_factory=Path.cwd)
    """The project's folder."""
    model_name: str = Field(default=DEFAULT_MODEL, alias="model")
    """The model: `offline`, `replay:FILE`, or any name that a provider knows."""
    max_iterations: int = Field(default=50, ge=1, le=100_000)
    """How many times plan, act and evaluate may go round."""
    hitl_enabled: bool = False
    """Ask a person after each evaluation that did not achieve the goal."""
    run_id: str = Field(default_factory=new_run_id)
    """The run's id."""
    task: str = ""
    """Free text that goes to the model beside the goal (an issue's words, say)."""
    context_tokens: int = Field(default=4000, ge=0, le=1_000_000)
    """Tokens of the project's tree and key files that the first prompt shows, at most."""
    options: dict[str, Any] = Field(default_factory=dict)
    """The goal's own options; in `.retrai.yml` they stand at the top level."""
    plugins: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Options of other plugins, by plugin name."""
    pins: dict[str, str] = Field(default_factory=dict)
    """Which distribution a plugin name means where two offer it: `{pytest: my-dist}`."""
    agent: str = "goal-loop"
    """The agent that works towards the goal."""
    memory: str = "file"
    """The memory store; `none` for no memory."""
    sandbox: str = "auto"
    """The sandbox; `auto` takes the strictest that works, `strict` refuses to run without walls."""
    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    """The model's temperature."""
    tools: list[str] | None = None
    """The tools that the model gets; the goal's default set when left out."""
    no_tools: list[str] = Field(default_factory=list)
    """Tools that the model does not get, by name or by glob (`git.*`)."""
    allow_edit: list[str] = Field(default_factory=list)
    """Globs of protected files that the agent may change after all."""
    holdout: list[str] = Field(default_factory=list)
    """Globs of tests that the agent never sees."""
    permissions: Permissions | None = None
    """Rules for the tool gates: allow, ask or deny by tool and pattern."""
    required_plugins: dict[str, str] = Field(default_factory=dict)
    """Distributions that must be installed, with their version ranges."""
    disabled_plugins: list[str] = Field(default_factory=list)
    """Plugins not to use: entry points, distributions or `name@distribution`."""
    mcp: Annotated[dict[str, McpServer], AfterValidator(sound_names)] = Field(default_factory=dict)
    """MCP servers whose tools the run gets."""
    python: str | None = None
    """The interpreter that runs the project's code; found from the project when left out."""
    max_cost_usd: float | None = Field(default=None, alias="max_cost", ge=0)
    """US dollars that model calls may cost; checked before each call with the worst it may cost."""
    max_tokens: int | None = Field(default=None, ge=0)
    """Tokens that model calls may use, in and out together."""
    max_time_s: float | None = Field(default=None, alias="max_time", ge=0)
    """Seconds that the run may last, without those in which a person is asked."""
    max_tampering: int = Field(default=3, ge=1)
    """How many refused changes of protected files end the run as `tampered`."""
    confirm: int = Field(default=1, ge=1, le=100)
    """How many times a check that passes must pass again, each time on a fresh clean copy."""

    trusted: list[str] = Field(default_factory=list)
    """Globs of folders whose projects may run what their own file names; the user's file only."""

    @field_validator("max_cost_usd", "max_tokens", "max_time_s", mode="before")
    @classmethod
    def _lifted(cls, value: object) -> object:
        return None if value == NO_LIMIT else value

    def leaves_out(self, tool: str) -> bool:
        """Whether `no_tools` names the tool."""
        return any(fnmatchcase(tool, pattern) for pattern in self.no_tools)


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
    what = "no such key" if first["type"] == "extra_forbidden" else first["msg"].lower()
    return UsageError(f"{shown}: {what}, got {first['input']!r} (from {origin})", hint=hint)


def unknown_option(
    name: str, kind: str, plugin: str, known: list[str], origin: str = ""
) -> UsageError:
    """The error for a key that is no option of a plugin and, for a goal's, no setting either.

    `origin` says where it stands, ` (from FILE)`.
    """
    settings = {*RunConfig.model_fields, "model"} - {"cwd", "run_id", "model_name", "options"}
    every = sorted({*known, *settings} if kind == "goal" else known)
    if kind == "goal" and name in settings:  # only `--option` can bring one here
        where = f"`{name}: VALUE` in .retrai.yml sets it, or its flag: `retrai run --help`"
        return UsageError(f"{name} is a setting, no option of the goal {plugin}", hint=where)
    what = f"no option of the {kind} {plugin}"
    if kind == "goal":
        what = f"neither a setting nor an option of the goal {plugin}"
    return UsageError(
        f"{name}: {what}{nearest(name, every)}{origin}",
        hint=f"`retrai plugins show {plugin}` lists its options",
    )
