"""What a run is asked to do, and where each value came from.

User configuration < `.retrai.yml` < environment (`RETRAI_*`) < flags. Unknown keys are errors that
name the nearest known one; a key that no field knows is taken for an option of the chosen goal, and
checked against that goal's options when it is known.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
)
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict

from .config_files import NO_LIMIT, PROJECT_FILE, parse_config, read_text, user_config_path
from .contracts.mcp_server import McpServer, sound_names
from .contracts.permissions import Permissions
from .errors import UsageError, nearest

DEFAULT_MODEL = "claude-sonnet-4-6"
_FLAG, _DEFAULT = "flag", "default"
_MERGED = ("options", "plugins", "pins")
"""Settings that are merged key by key; of the others the last source's value counts."""
_JOINED = ("disabled_plugins",)
"""Lists that hold what any source says."""


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
    """Seconds after which no more model call is made."""
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


class _Environment(BaseSettings):
    """The settings that the environment may give; `RETRAI_MODEL=offline`."""

    model_config = SettingsConfigDict(env_prefix="RETRAI_", extra="ignore", env_ignore_empty=True)

    goal: str | None = None
    model: str = DEFAULT_MODEL
    max_iterations: int = 50
    hitl_enabled: bool = False
    task: str = ""
    agent: str = ""
    memory: str = ""
    sandbox: str = ""
    temperature: float = 0.0
    tools: list[str] | None = None
    python: str | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    max_time: float | None = None
    confirm: int = 1


@dataclass(frozen=True)
class Settings:
    """A configuration and where each of its values came from.

    Attributes:
        config: the merged configuration.
        origins: by field name: `flag`, `RETRAI_...`, a file's path, or `default`.
        project_file: the origin of what stands in the project's own file.
        project: what stands there, by field name; options of the goal are not in it.
        user: the same of the user's file.
    """

    config: RunConfig
    origins: Mapping[str, str]
    project_file: str = ""
    project: Mapping[str, Any] = field(default_factory=dict[str, Any])
    user: Mapping[str, Any] = field(default_factory=dict[str, Any])


def user_config_file() -> Path:
    """The user's own configuration, `config.yml` in the user's configuration folder."""
    return Path(user_config_path())


def load_settings(cwd: Path, flags: Mapping[str, Any] | None = None) -> Settings:
    """Merge the four sources for the project in `cwd`.

    Args:
        cwd: the project's folder.
        flags: values given on the command line; those that are None were not given. `options`
            holds `--option key=value` pairs and is merged key by key.

    Raises:
        UsageError: the folder is missing, a file is not a mapping of known keys, or a value is
            out of range; the message names the file and the key.
    """
    if not cwd.is_dir():
        raise UsageError(f"no such folder: {cwd}", hint="give the project's folder with -C DIR")
    user, project = _file_layer(user_config_file()), _file_layer(cwd / PROJECT_FILE)
    project_file = str(cwd / PROJECT_FILE)
    if any(key == "trusted" for _, key, _ in project):
        raise UsageError(
            f"{project_file}: a project cannot say itself that it is trusted",
            hint=f"`trusted: [FOLDER]` belongs in {user_config_file()}",
        )
    sources = [user, project, _environment_layer(), _flag_layer(flags or {})]
    for source in sources:  # what is wrong in a file is told, though a flag overrules it
        _config_of(source, cwd)
    config, origins = _config_of([value for source in sources for value in source], cwd)
    return Settings(config, origins, project_file, _settings(project), _settings(user))


def _config_of(layers: list[tuple[str, str, Any]], cwd: Path) -> tuple[RunConfig, dict[str, str]]:
    """The configuration that these values make, the later ones stronger, and their origins.

    Raises:
        UsageError: one of them is of no use.
    """
    merged: dict[str, Any] = {"cwd": cwd.resolve()}
    origins: dict[str, str] = dict.fromkeys(RunConfig.model_fields, _DEFAULT)
    origins["cwd"] = _DEFAULT if cwd == Path() else _FLAG
    for origin, key, value in layers:
        if key in _MERGED and isinstance(value, Mapping) and isinstance(merged.get(key, {}), dict):
            merged[key] = {**merged.get(key, {}), **cast("Mapping[str, Any]", value)}
            for name in cast("Mapping[str, Any]", value):
                origins[f"{key}.{name}"] = origin
        elif key in _JOINED and isinstance(value, list) and isinstance(merged.get(key), list):
            merged[key] = [*merged[key], *cast("list[Any]", value)]
        else:
            merged[key] = value
        origins[key] = origin
    try:
        return RunConfig.model_validate(merged), origins
    except ValidationError as error:
        raise explained(error, origins) from error


def _file_layer(path: Path) -> list[tuple[str, str, Any]]:
    """The file's values as (origin, field, value); keys that are no field go to `options`."""
    text = read_text(str(path))
    if text is None:
        return []
    raw = parse_config(text, str(path))
    fields = RunConfig.model_fields
    known = {field.alias or name: name for name, field in fields.items()} | {n: n for n in fields}
    for internal in ("cwd", "run_id"):
        known.pop(internal)
    layer: list[tuple[str, str, Any]] = []
    for key, value in raw.items():
        if key in known:
            layer.append((str(path), known[key], value))
        else:
            layer.append((str(path), "options", {str(key): value}))
    return layer


def _settings(layer: list[tuple[str, str, Any]]) -> dict[str, Any]:
    return {key: value for _, key, value in layer if key != "options"}


def _environment_layer() -> list[tuple[str, str, Any]]:
    try:
        values = EnvSettingsSource(_Environment)()
    except ValueError as error:
        raise UsageError(f"an environment variable cannot be read: {error}") from error
    by_alias = {field.alias: name for name, field in RunConfig.model_fields.items() if field.alias}
    return [
        (f"RETRAI_{key.upper()}", by_alias.get(key, key), value) for key, value in values.items()
    ]


def environment_variables() -> list[str]:
    """The variables that give a setting."""
    return [f"RETRAI_{name.upper()}" for name in _Environment.model_fields]


def _flag_layer(flags: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    return [
        (_FLAG, "model_name" if key == "model" else key, value)
        for key, value in flags.items()
        if value is not None
    ]


def explained(error: ValidationError, origins: Mapping[str, str]) -> UsageError:
    """The first thing that is wrong with a `RunConfig`; what has no origin is a flag."""
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"]) or "configuration"
    top = "model_name" if key == "model" else key.split(".")[0]
    field = RunConfig.model_fields.get(top)
    # Under the name that a person writes: `model`, `max_cost`.
    shown = key.replace(top, field.alias, 1) if field and field.alias else key
    origin = origins.get(key) or origins.get(top, _FLAG)
    hint = "correct it there; `retrai config show` lists every setting then"
    if origin == _FLAG:
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
