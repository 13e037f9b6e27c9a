"""Merges a run's configuration from its sources, and keeps the origin of each value.

User configuration < `.retrai.yml` < environment (`RETRAI_*`) < flags. Unknown keys are errors that
name the nearest known one; a key that is no field is an option of the goal in the same file (of the
run's goal, if the file names none), and is checked when that goal is known.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from ..errors import UsageError
from .files import (
    PROJECT_FILE,
    names_switched_off,
    parse_config,
    read_text,
    switched_off_path,
    user_config_path,
)
from .model import (
    AGENT_LIMITS,
    DEFAULT_AGENT,
    FLAG,
    ONLY_USERS,
    USE,
    RunConfig,
    combined_tools,
    explained,
)

_DEFAULT = "default"
_MERGED = ("options", "pins")
"""Settings that are merged key by key; of the others the last source's value counts."""
_ENTRIES = ("goals", "agents", "plugins")
"""Settings with a mapping below each name, which is merged key by key too."""
_OF_GOAL = ("goal", "options")
_JOINED = ("disabled_plugins",)
"""Lists that hold what any source says."""
_CHECK_COMMAND, _SHELL_GOAL = "check_command", "shell-goal"
"""A file that gives the first and no goal means the second."""

BY_VARIABLE = (
    "goal",
    "model",
    "max_iterations",
    "hitl_enabled",
    "task",
    "agent",
    "memory",
    "store",
    "engine",
    "sandbox",
    "temperature",
    "tools",
    "python",
    "max_cost",
    "max_tokens",
    "max_time",
    "confirm",
)
"""The settings that the environment may give (`RETRAI_MODEL=offline`), as a file names them."""
_OTHER_VARIABLES = (
    "RETRAI_CACHE_DIR",
    "RETRAI_DEBUG",
    "RETRAI_DISABLE_PLUGINS",
    "RETRAI_PLUGINS",
    "RETRAI_STATE_DIR",
    "RETRAI_TRUST",
)
AGENTS_VARIABLE = "RETRAI_AGENTS__"
"""Begins a variable that sets what is below `agents:`; an underscore of the agent's name there is a
hyphen here: `RETRAI_AGENTS__GOAL_LOOP__MAX_ITERATIONS`."""
ALIKE = 0.8
"""Plugins and tests have variables of their own: only what looks like one of ours is reported."""

Layer = list[tuple[str, str, Any]]
"""What one source says: origin, field, value."""


@dataclass(frozen=True)
class Settings:
    """A configuration and where each of its values came from.

    Attributes:
        config: the merged configuration.
        origins: by field name, and by `options.NAME`, `plugins.NAME`, `goals.GOAL.OPTION` and so
            on: `flag`, `RETRAI_...`, a file's path, or `default`.
        project_file: the origin of what stands in the project's own file.
        project: what stands there, by field name; options of the goal are not in it.
        user: the same of the user's file.
    """

    config: RunConfig
    origins: Mapping[str, str] = field(default_factory=dict[str, str])
    project_file: str = ""
    project: Mapping[str, Any] = field(default_factory=dict[str, Any])
    user: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def origin(self, *keys: str) -> str:
        """` (from FILE)` for the first of the keys that has an origin; empty for a flag's."""
        origin = next((self.origins[key] for key in keys if key in self.origins), _DEFAULT)
        return "" if origin in (_DEFAULT, FLAG) else f" (from {origin})"


def user_config_file() -> Path:
    """The user's own configuration, `config.yml` in the user's configuration folder."""
    return Path(user_config_path())


def load_settings(cwd: Path, flags: Mapping[str, Any] | None = None) -> Settings:
    """Merge the four sources for the project in `cwd`.

    Args:
        cwd: the project's folder.
        flags: values given on the command line, or by a caller; those that are None were not
            given; an empty list of goals is a run without one, whatever the files say. `options`
            holds `--option key=value` pairs and is merged key by key; a key that
            is no setting is an option of the goal, as in a file.

    Raises:
        UsageError: the folder is missing, a file is not a mapping of known keys, or a value is
            out of range; the message names the file and the key.
    """
    if not cwd.is_dir():
        raise UsageError(f"no such folder: {cwd}", hint="give the project's folder with -C DIR")
    user, project = _file_layer(user_config_file()), _file_layer(cwd / PROJECT_FILE)
    project_file = str(cwd / PROJECT_FILE)
    for _, key, _ in project:
        if key == "trusted":
            raise UsageError(
                f"{project_file}: a project cannot say itself that it is trusted",
                hint=f"`trusted: [FOLDER]` belongs in {user_config_file()}",
            )
        if key in ONLY_USERS:
            raise UsageError(
                f"{project_file}: a project cannot say which {key} its runs have",
                hint=f"`{key}: NAME` belongs in {user_config_file()}",
            )
    names = names_switched_off(cwd)
    switched_off: Layer = [(switched_off_path(), "disabled_plugins", names)] if names else []
    sources = [user, project, switched_off, _environment_layer(), _flag_layer(flags or {})]
    if (flags or {}).get("goal") == []:
        sources = [[each for each in source if each[1] not in _OF_GOAL] for source in sources]
    goal, agent = _one_goal(sources), str(_last(sources, "agent") or DEFAULT_AGENT)
    sources = [_of_run(source, goal, agent) for source in sources]
    for source in sources:  # what is wrong in a file is told, though a flag overrules it
        _config_of(source, cwd)
    user, project, *others = sources
    every = [value for source in (user, project, *others) for value in source]
    config, origins = _config_of(every, cwd)
    return Settings(config, origins, project_file, _settings(project), _settings(user))


def user_settings() -> Settings:
    """What the user's own file and the environment say, for what no project has a say in.

    Raises:
        UsageError: one of them is of no use.
    """
    layers = [_file_layer(user_config_file()), _environment_layer()]
    layers = [_of_run(layer, _one_goal(layers), DEFAULT_AGENT) for layer in layers]
    return Settings(*_config_of([value for layer in layers for value in layer], Path()))


def _last(sources: list[Layer], field: str) -> Any:
    """The value that counts of a setting which is not merged; None where no source has it."""
    values = [value for source in sources for _, key, value in source if key == field]
    return values[-1] if values else None


def _one_goal(sources: list[Layer]) -> str | None:
    """The goal that the sources name; None where it is to be found from the project.

    Raises:
        UsageError: they name several.
    """
    goal = _last(sources, "goal")
    if isinstance(goal, list):
        names = cast("list[object]", goal)
        origin = [where for source in sources for where, key, _ in source if key == "goal"][-1]
        what = ", ".join(map(str, names)) or "none"
        raise UsageError(
            f"goal: a run has exactly one goal for now, got {what} (from {origin})",
            hint=f"`retrai run {names[0]}` takes one of them" if names else "name one there",
        )
    return goal


def _of_run(layer: Layer, goal: str | None, agent: str) -> Layer:
    """What a source says for a run with this goal and this agent.

    A file's own options are of the goal that it names. The limits that it gives to the agent are
    stronger than those that it gives to every agent.
    """
    named = _last([layer], "goal")
    layer = [entry for entry in layer if entry[1] != "goal" or not isinstance(entry[2], list)]
    if named is not None and goal is not None and not _is_same(named, goal):
        layer = [entry for entry in layer if entry[1] != "options"]
    known = _known_keys()
    entries = [
        (origin, cast("Mapping[str, Any]", value).get(agent))
        for origin, key, value in layer
        if key == "agents" and isinstance(value, Mapping)
    ]
    limits = [
        (origin, known[name], limit)
        for origin, entry in entries
        if isinstance(entry, Mapping)
        for name, limit in cast("Mapping[str, Any]", entry).items()
        if known.get(name) in AGENT_LIMITS
    ]
    return [*layer, *limits]


def _is_same(named: object, goal: str) -> bool:
    """Whether two names mean one goal, however they name its distribution."""
    names = cast("list[object]", named) if isinstance(named, list) else [named]
    return str(goal).partition("@")[0] in {str(name).partition("@")[0] for name in names}


def _config_of(layers: Layer, cwd: Path) -> tuple[RunConfig, dict[str, str]]:
    """The configuration that these values make, the later ones stronger, and their origins.

    Raises:
        UsageError: one of them is of no use.
    """
    merged: dict[str, Any] = {"cwd": cwd.resolve()}
    origins: dict[str, str] = dict.fromkeys(RunConfig.model_fields, _DEFAULT)
    origins["cwd"] = _DEFAULT if cwd == Path() else FLAG
    for origin, key, value in layers:
        if key in _MERGED and isinstance(value, Mapping) and isinstance(merged.get(key, {}), dict):
            later = cast("Mapping[str, Any]", value)
            # In the order of the sources: an option may be given under two names.
            earlier = {name: old for name, old in merged.get(key, {}).items() if name not in later}
            merged[key] = {**earlier, **later}
            for name in cast("Mapping[str, Any]", value):
                origins[f"{key}.{name}"] = origin
        elif key in _ENTRIES and isinstance(value, Mapping):
            merged[key] = _with_entries(merged.get(key, {}), cast("Mapping[str, Any]", value))
            for name, entry in cast("Mapping[str, Any]", value).items():
                origins[f"{key}.{name}"] = origin
                if isinstance(entry, Mapping):
                    names = cast("Mapping[str, Any]", entry)
                    origins |= {f"{key}.{name}.{option}": origin for option in names}
        elif key in _JOINED and isinstance(value, list):
            names = cast("list[Any]", value)
            merged[key] = [*merged.get(key, []), *names]
            origins = {f"{key}.{name}": origin for name in names} | origins
        elif key == "tools" and _is_names(cast("object", value)) and _is_names(merged.get(key)):
            merged[key] = combined_tools(merged[key], cast("list[str]", value))
        else:
            merged[key] = value
        origins[key] = origin
    try:
        return RunConfig.model_validate(merged), origins
    except ValidationError as error:
        raise explained(error, origins) from error


def _with_entries(merged: Mapping[str, Any], added: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of two sources; one that is made with another goal begins anew."""
    result = dict(merged)
    for name, entry in added.items():
        known = result.get(name)
        if isinstance(entry, Mapping) and isinstance(known, Mapping):
            later, earlier = cast("dict[str, Any]", entry), cast("dict[str, Any]", known)
            begins_anew = later.get(USE, earlier.get(USE)) != earlier.get(USE)
            result[name] = later if begins_anew else {**earlier, **later}
        elif entry is not None or known is None:
            result[name] = entry
    return result


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(n, str) for n in cast("list[object]", value))


def _known_keys() -> dict[str, str]:
    """The field of each key that a file may have."""
    fields = RunConfig.model_fields
    known = {field.alias or name: name for name, field in fields.items()} | {n: n for n in fields}
    for internal in ("cwd", "run_id"):
        known.pop(internal)
    return known


def _file_layer(path: Path) -> Layer:
    """The file's values as (origin, field, value); keys that are no field go to `options`."""
    text = read_text(str(path))
    if text is None:
        return []
    raw = parse_config(text, str(path))
    known = _known_keys()
    layer: Layer = []
    options: set[str] = set()
    for key, value in raw.items():
        if known.get(key) == "goal" and isinstance(value, list):
            names = cast("list[Any]", value)
            layer.append((str(path), "goal", names[0] if len(names) == 1 else names))
        elif key in known:
            layer.append((str(path), known[key], value))
            if key == "options" and isinstance(value, Mapping):
                options.update(cast("Mapping[str, Any]", value))
        else:
            layer.append((str(path), "options", {str(key): value}))
            options.add(str(key))
    if "goal" not in raw and _CHECK_COMMAND in options:
        layer.append((str(path), "goal", _SHELL_GOAL))
    return layer


def _settings(layer: Layer) -> dict[str, Any]:
    return {key: value for _, key, value in layer if key != "options"}


def _environment_layer() -> Layer:
    """What the environment gives: texts, which the model reads; a list as JSON."""
    known = _known_keys()
    layer: Layer = []
    for key in BY_VARIABLE:
        variable = f"RETRAI_{key.upper()}"
        value: Any = os.environ.get(variable)
        if key == "tools" and value:
            with suppress(ValueError):  # the model says what is wrong
                value = json.loads(value)
        if value:
            layer.append((variable, known[key], value))
    for variable, value in sorted(os.environ.items()):
        agent, _, key = variable.removeprefix(AGENTS_VARIABLE).partition("__")
        if variable.startswith(AGENTS_VARIABLE) and agent and key and value:
            entry = {agent.lower().replace("_", "-"): {key.lower(): value}}
            layer.append((variable, "agents", entry))
    return layer


def misspelt_variables(environ: Mapping[str, str]) -> list[str]:
    """Warnings of `RETRAI_...` variables that nobody reads and that look like one that is read."""
    known = [*(f"RETRAI_{key.upper()}" for key in BY_VARIABLE), *_OTHER_VARIABLES]
    lines: list[str] = []
    for name in sorted(environ):
        if not name.startswith("RETRAI_") or name.startswith(AGENTS_VARIABLE) or name in known:
            continue
        if close := difflib.get_close_matches(name, known, n=1, cutoff=ALIKE):
            lines.append(f"{name} is no variable of retrai's (did you mean {close[0]}?)")
    return lines


def _flag_layer(flags: Mapping[str, Any]) -> Layer:
    known = _known_keys()
    given = {key: value for key, value in flags.items() if value is not None}
    return [
        (FLAG, known[key], value) if key in known else (FLAG, "options", {key: value})
        for key, value in given.items()
    ]


def setting_rows(settings: Settings) -> list[tuple[str, Any, str]]:
    """Name as `.retrai.yml` has it, value as JSON, origin; `run_id` is no setting of anyone's."""
    values = settings.config.model_dump(mode="json", exclude={"run_id"})
    origins = settings.origins
    rows: list[tuple[str, Any, str]] = []
    for key, value in values.items():
        if key in ("goals", "agents") and value:
            rows += [
                (f"{key}.{name}.{option}", given, origins[f"{key}.{name}.{option}"])
                for name, entry in value.items()
                for option, given in entry.items()
            ]
        elif key != "options":
            rows.append((RunConfig.model_fields[key].alias or key, value, origins[key]))
    options: dict[str, Any] = values["options"]
    rows += [(key, value, origins[f"options.{key}"]) for key, value in options.items()]
    return rows
