"""The configuration files: where they are, how they are read, which plugins they disable.

`retrai --help` and `retrai plugins list` read them too, so nothing heavy is imported if a file is
missing or does not mention plugins.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..errors import UsageError

if TYPE_CHECKING:
    from yaml import Event, Node

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
_TOO_MUCH_HINT = "write the values out instead of nesting aliases"
_WORDS = (DISABLED_KEY.encode(), b"pins")
_GOALS, _USE = "goals", "use"
_MAX_BYTES = 200_000
"""Of a configuration file; PyYAML takes seconds for so many."""
_MAX_DEPTH = 50
_TOO_DEEP = f"nested more than {_MAX_DEPTH} levels deep"
_MAX_REPEATED = 100_000
"""Values and characters that aliases may add: what works with the values meets each one again."""


class YamlLimitError(ValueError):
    """YAML that would take too long to process, and the line of the problem."""

    def __init__(self, problem: str, node: Node | Event) -> None:
        super().__init__(problem)
        self.line: int = cast(Any, node).start_mark.line + 1


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


class GoalEntry(NamedTuple):
    """What the configuration files say about one goal under `goals:`.

    Attributes:
        use: the installed goal that makes the check; empty where that is the one of this name.
        options: merged, those of the project's file count more.
        files: those that say something, the project's last.
    """

    use: str
    options: Mapping[str, Any]
    files: tuple[str, ...]


def read_goal_entries(project: str | os.PathLike[str] = ".") -> dict[str, GoalEntry]:
    """The `goals:` sections of the user's file and the project's, by goal; checks nothing else.

    Raises:
        UsageError: a file with such a section cannot be read.
    """
    found: dict[str, GoalEntry] = {}
    for path in (user_config_path(), os.path.join(project, PROJECT_FILE)):
        text = read_text(path)
        if text is None or _GOALS not in text:
            continue
        section: Any = parse_config(text, path).get(_GOALS)
        if section is None:
            continue
        if not isinstance(section, dict):
            raise UsageError(f"{path}: {_GOALS} must hold `NAME: {{OPTION: VALUE}}` lines")
        for name, entry in cast("dict[Any, Any]", section).items():
            given = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
            known = found.get(str(name), GoalEntry("", {}, ()))
            use = str(given.get(_USE, known.use))
            earlier: Mapping[str, Any] = known.options if use == known.use else {}
            options = {**earlier, **{key: v for key, v in given.items() if key != _USE}}
            found[str(name)] = GoalEntry(use, options, (*known.files, path))
    return found


def _pins_of(values: Mapping[Any, Any], path: str) -> dict[str, str]:
    found: Any = values.get("pins")
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise UsageError(f"{path}: pins must hold `NAME: DISTRIBUTION` lines")
    return {str(name): str(dist) for name, dist in cast("dict[Any, Any]", found).items()}


def compose(text: str) -> Node | None:
    """The YAML text as nodes that know where they stand.

    Raises:
        yaml.YAMLError: it is not YAML.
        YamlLimitError: it nests too deep, or its aliases repeat too much.
    """
    import yaml

    # PyYAML's type stubs say nothing of these functions' first argument and result.
    untyped = cast(Any, yaml)
    depth = 0
    for event in cast("Iterable[Event]", untyped.parse(text, Loader=yaml.SafeLoader)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MAX_DEPTH:  # what composes the nodes calls itself for each level
                raise YamlLimitError(_TOO_DEEP, event)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    root = cast("Node | None", untyped.compose(text, Loader=yaml.SafeLoader))
    if root is not None:
        _measure(root, {}, set())
    return root


class _Size(NamedTuple):
    """The size of a node with all its aliases expanded.

    Attributes:
        whole: its values, and the characters of its texts.
        repeated: those of them that stand there by an alias.
        depth: of its levels.
    """

    whole: int
    repeated: int
    depth: int


def _measure(node: Node, known: dict[int, _Size], open_nodes: set[int]) -> _Size:
    """The node's size; what an alias stands for comes before it and is known by then.

    Raises:
        YamlLimitError: it is too deep, repeats too much, or holds itself.
    """
    import yaml

    if isinstance(node, yaml.ScalarNode):
        known[id(node)] = size = _Size(1 + len(cast(str, node.value)), 0, 1)
        return size
    open_nodes.add(id(node))
    whole, repeated, depth = 1, 0, 0
    for part in _parts(node):
        if id(part) in open_nodes:
            raise YamlLimitError("an alias refers to a value that contains it", node)
        is_alias = id(part) in known
        size = known[id(part)] if is_alias else _measure(part, known, open_nodes)
        whole, depth = whole + size.whole, max(depth, size.depth)
        repeated += size.whole if is_alias else size.repeated
        if repeated > _MAX_REPEATED:
            raise YamlLimitError(f"aliases repeat more than {_MAX_REPEATED:,} values", node)
    open_nodes.remove(id(node))
    if depth > _MAX_DEPTH:
        raise YamlLimitError(_TOO_DEEP, node)
    known[id(node)] = size = _Size(whole, repeated, depth + 1)
    return size


def _parts(node: Node) -> list[Node]:
    import yaml

    if isinstance(node, yaml.MappingNode):
        pairs = cast("list[tuple[Node, Node]]", node.value)
        return [part for pair in pairs for part in pair]
    return cast("list[Node]", node.value)


def parse_yaml(text: str) -> Any:
    """The value of a YAML text, once its size is known.

    Raises:
        yaml.YAMLError: it is not YAML.
        ValueError: it is too much, as `compose` says, or has a value that is none (a date, say).
    """
    import yaml

    compose(text)
    return yaml.safe_load(text)


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

    try:
        tree = compose(text)
        raw: Any = yaml.safe_load(text)
    except YamlLimitError as error:
        raise UsageError(f"{path} line {error.line}: {error}", hint=_TOO_MUCH_HINT) from error
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
