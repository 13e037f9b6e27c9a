"""The configuration files: where they are, how they are read, and which plugins they switch off.

`retrai --help` and `retrai plugins list` read them too, so nothing heavy is imported for a file
that is not there or says nothing about plugins.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .errors import UsageError

if TYPE_CHECKING:
    from yaml import Node

PROJECT_FILE = ".retrai.yml"
DISABLED_KEY = "disabled_plugins"
NO_LIMIT = "none"
"""Lifts a limit that another source, or an earlier part of a run, has set."""
_BROKEN_HINT = (
    "a value that holds `: `, or begins with one of * & @ % [ {, needs quotes, and indents are "
    "spaces; `retrai config show` reads the file again"
)
_WORDS = (DISABLED_KEY.encode(), b"pins")


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
    disabled: dict[str, str] = {}
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


def _pins_of(values: Mapping[Any, Any], path: str) -> dict[str, str]:
    found: Any = values.get("pins")
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise UsageError(f"{path}: pins must hold `NAME: DISTRIBUTION` lines")
    return {str(name): str(dist) for name, dist in cast("dict[Any, Any]", found).items()}


def compose(text: str) -> Node | None:
    """The YAML text as nodes that know where they stand."""
    import yaml

    # PyYAML's type stubs say nothing of this function's first argument and result.
    return cast("Node | None", cast(Any, yaml).compose(text, Loader=yaml.SafeLoader))


def read_text(path: str) -> str | None:
    """The file's text; None where there is no file.

    Raises:
        UsageError: it cannot be read, or is not UTF-8.
    """
    try:
        with open(path, "rb") as file:
            return file.read().decode()
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

    try:
        raw: Any = yaml.safe_load(text)
        tree = compose(text)
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
    if tree is not None:
        _refuse_twice(tree, path)
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


def _refuse_twice(tree: Node, path: str) -> None:
    """YAML's own reader takes the last of two values for one key (two pins, say), and is silent."""
    import yaml

    todo: list[Node] = [tree]
    done: set[int] = set()
    while todo:
        node = todo.pop()
        if id(node) in done:  # an anchor may stand in several places, or within itself
            continue
        done.add(id(node))
        if isinstance(node, yaml.MappingNode):
            keys: set[tuple[str, str]] = set()
            for key, value in cast("list[tuple[Node, Node]]", node.value):
                todo.append(value)
                if not isinstance(key, yaml.ScalarNode) or key.value == "<<":
                    continue
                if (key.tag, key.value) in keys:
                    line = key.start_mark.line + 1
                    told = f"{path} line {line}: `{key.value}` is given twice"
                    raise UsageError(told, hint="leave out one of the two")
                keys.add((key.tag, key.value))
        elif isinstance(node, yaml.SequenceNode):
            todo += cast("list[Node]", node.value)
