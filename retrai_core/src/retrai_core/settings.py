"""Where the values of a run's configuration come from, and which of them counts.

User configuration < `.retrai.yml` < environment (`RETRAI_*`) < flags. Unknown keys are errors that
name the nearest known one; a key that no field knows is taken for an option of the chosen goal, and
checked against that goal's options when it is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict

from .config_files import PROJECT_FILE, parse_config, read_text, user_config_path
from .errors import UsageError
from .run_config import DEFAULT_MODEL, FLAG, RunConfig, explained

_DEFAULT = "default"
_MERGED = ("options", "plugins", "pins")
"""Settings that are merged key by key; of the others the last source's value counts."""
_JOINED = ("disabled_plugins",)
"""Lists that hold what any source says."""


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
    origins["cwd"] = _DEFAULT if cwd == Path() else FLAG
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
        (FLAG, "model_name" if key == "model" else key, value)
        for key, value in flags.items()
        if value is not None
    ]
