"""The configuration files: where they are, how they are read, which plugins they disable.

`retrai --help` and `retrai plugins list` read them too, so nothing heavy is imported if a file is
missing or does not mention plugins.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from ..errors import UsageError

PROJECT_FILE = ".retrai.yml"
LOCK_FILE = "retrai.lock"
"""Which plugins `retrai run --locked` takes."""
DISABLED_KEY = "disabled_plugins"
NO_LIMIT = "none"
"""Lifts a limit that another source, or an earlier part of a run, has set."""
_BROKEN_HINT = (
    "a value that holds `: `, or begins with one of * & @ % [ {, needs quotes, and indents are "
    "spaces; `retrai config show` reads the file again"
)
_WORDS = (DISABLED_KEY.encode(), b"pins")
_MAX_BYTES = 200_000
"""Of a configuration file; PyYAML takes seconds for so many."""


class PluginSettings(NamedTuple):
    """What the configuration files say about plugins.

    Attributes:
        disabled: the file by each name that it switches off.
        pins: the distribution by each name that is pinned.
    """

    disabled: Mapping[str, str] = MappingProxyType({})
    pins: Mapping[str, str] = MappingProxyType({})


def user_config_path() -> str:
    """The user's own configuration, `config.yml` in the user's configuration folder."""
    if sys.platform == "linux":
        # platformdirs says the same, and its import costs a help page a tenth of all its time.
        folder = os.environ.get("XDG_CONFIG_HOME", "").strip() or os.path.expanduser("~/.config")
        return os.path.join(folder, "retrai", "config.yml")
    import platformdirs

    return os.path.join(platformdirs.user_config_dir("retrai"), "config.yml")


def read_plugin_settings(project: str | os.PathLike[str] = ".") -> PluginSettings:
    """What the user's file and the project's say about plugins; the project's pins count more.

    Raises:
        UsageError: a file that names plugins cannot be read.
    """
    path = switched_off_path()
    disabled = dict.fromkeys(names_switched_off(project), path)
    pins: dict[str, str] = {}
    for path in (user_config_path(), os.path.join(project, PROJECT_FILE)):
        text = read_text(path)
        if text is None or not any(word in text.encode() for word in _WORDS):
            continue
        values = parse_config(text, path)
        for name in texts_of(values, DISABLED_KEY, path):
            disabled.setdefault(name, path)
        pins |= _pins_of(values, path)
    return PluginSettings(disabled, pins)


def switched_off_path() -> str:
    """The file that `retrai plugins disable` owns: names by project, `""` for every project."""
    return os.path.join(os.path.dirname(user_config_path()), "switched_off.json")


def read_switched_off() -> dict[str, list[str]]:
    """What `retrai plugins disable` has switched off.

    Raises:
        UsageError: the file cannot be read.
    """
    path = switched_off_path()
    text = read_text(path)
    if text is None:
        return {}
    import json

    try:
        return {str(key): [str(name) for name in names] for key, names in json.loads(text).items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise UsageError(
            f"{path} is damaged: {error}", hint="delete it; nothing else uses it"
        ) from error


def names_switched_off(project: str | os.PathLike[str]) -> list[str]:
    """The names that `retrai plugins disable` has switched off for a project."""
    known = read_switched_off()
    names = known and [*known.get("", ()), *known.get(os.path.realpath(project), ())]
    return list(dict.fromkeys(names))


def named_goals(project: str | os.PathLike[str] = ".") -> dict[str, str]:
    """The installed goal by each name below `goals:` in the user's and the project's file.

    Nothing else of the files is checked: TAB has no time for the settings' model.

    Raises:
        UsageError: a file cannot be read.
    """
    found: dict[str, str] = {}
    for path in (user_config_path(), os.path.join(project, PROJECT_FILE)):
        text = read_text(path)
        section: Any = parse_config(text, path).get("goals") if text and "goals" in text else None
        if isinstance(section, dict):
            for name, entry in cast("dict[Any, Any]", section).items():
                given = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
                found[str(name)] = str(given.get("use", found.get(str(name), name)))
    return found


def _pins_of(values: Mapping[Any, Any], path: str) -> dict[str, str]:
    found: Any = values.get("pins")
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise UsageError(f"{path}: pins must hold `NAME: DISTRIBUTION` lines")
    return {str(name): str(dist) for name, dist in cast("dict[Any, Any]", found).items()}


def read_text(path: str) -> str | None:
    """The file's text; None where there is no file.

    Raises:
        UsageError: it cannot be read, is not UTF-8, or is too large to be a configuration.
    """
    try:
        # A pipe, or a device without an end, would be read for ever.
        if not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path):
            raise UsageError(
                f"{path} cannot be read: it is not a regular file",
                hint="replace it with a regular file",
            )
        with open(path, "rb") as file:
            raw = file.read(_MAX_BYTES + 1)
        if len(raw) > _MAX_BYTES:
            raise UsageError(
                f"{path} cannot be read: it is larger than {_MAX_BYTES:,} bytes",
                hint="a long text belongs in a file of its own (`--task-file`, say)",
            )
        return raw.decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError as error:
        raise folder_in_the_way(path) from error
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise UsageError(
                f"{path} cannot be read: it is no text in UTF-8",
                hint="save it as UTF-8, or delete it",
            ) from error
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error


def folder_in_the_way(path: str) -> UsageError:
    """The error that says that a folder stands where a configuration file belongs."""
    import shlex  # hardly ever needed, and help pages read the files too

    other = f"{path}.folder"
    return UsageError(
        f"{path} cannot be read: it is a folder, and should be a file",
        hint=f"give the folder another name: `mv {shlex.quote(path)} {shlex.quote(other)}`",
    )


def parse_config(text: str, path: str) -> dict[Any, Any]:
    """The keys and values of a configuration file.

    Raises:
        UsageError: it is not YAML, not `key: value` lines, or gives one key twice.
    """
    import yaml

    from .yaml_text import YamlLimitError, parse_yaml

    try:
        raw = parse_yaml(text)
    except YamlLimitError as error:
        raise UsageError(f"{path} {error.where}", hint=error.hint) from error
    except (yaml.YAMLError, ValueError) as error:  # a ValueError: a date that is none, say
        where = getattr(error, "problem_mark", None)
        line = f" at line {where.line + 1}" if where else ""
        what = getattr(error, "problem", None) or str(error).partition("\n")[0] or "not YAML"
        raise UsageError(f"{path} is not valid YAML{line}: {what}", hint=_BROKEN_HINT) from error
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise UsageError(
            f"{path} must hold `key: value` lines, not a {type(raw).__name__}",
            hint="`goal: pytest` is one; `retrai config show` lists every setting",
        )
    return cast("dict[Any, Any]", raw)


def texts_of(values: Mapping[Any, Any], key: str, path: str) -> list[str]:
    """The list of texts below `key`; empty where there is none.

    Raises:
        UsageError: something else stands there.
    """
    found: Any = values.get(key)
    if found is None:
        return []
    if not isinstance(found, list) or not all(
        isinstance(item, str) for item in cast("list[object]", found)
    ):
        raise UsageError(f"{path}: {key} must be a list of names")
    return cast("list[str]", found)
