"""Adding and removing one name of `disabled_plugins` in a configuration file's text.

Only the lines in question change: a library that writes the whole document anew (ruamel.yaml, the
best kept one) keeps comments, but not the indentation, the quotes and the line breaks of the rest.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

import yaml

from ..config_files import DISABLED_KEY, compose, parse_config, texts_of
from ..errors import UsageError

_PLAIN = re.compile(r"[A-Za-z][\w.-]*(@[\w.-]+)?")


def with_disabled(text: str, name: str, path: str) -> str:
    """The text with `name` in the list, at its end; the same text where it stands there already.

    Args:
        path: the file that the text comes from, for messages.

    Raises:
        UsageError: the text is no configuration, or of a form that only a person can edit.
    """
    names = texts_of(parse_config(text, path), DISABLED_KEY, path)
    if name in names:
        return text
    return _checked(text, _added(text, _scalar(name)), [*names, name], path)


def without_disabled(text: str, name: str, path: str) -> str:
    """The text without `name` in the list; the same text where it is not in it.

    Raises:
        UsageError: as `with_disabled`.
    """
    names = texts_of(parse_config(text, path), DISABLED_KEY, path)
    kept = [other for other in names if other != name]
    if kept == names:
        return text
    edited = text
    for _ in range(len(names) - len(kept)):
        edited = _removed(edited, name)
    return _checked(text, edited, kept, path)


def _checked(text: str, edited: str, names: list[str], path: str) -> str:
    """The edited text, if it means what it should: YAML has more forms than are edited here."""
    wanted = {**parse_config(text, path), DISABLED_KEY: names}
    try:
        is_right = parse_config(edited, path) == wanted
    except UsageError:
        is_right = False
    if not is_right:
        listed = json.dumps(names, ensure_ascii=False)
        raise UsageError(
            f"{path} is written in a form that is not edited here; nothing was changed",
            hint=f"write `{DISABLED_KEY}: {listed}` into it yourself",
        )
    return edited


def _value_node(text: str) -> yaml.Node | None:
    root = compose(text)
    if not isinstance(root, yaml.MappingNode):
        return None
    pairs = cast("list[tuple[yaml.Node, yaml.Node]]", root.value)
    return next((value for key, value in pairs if key.value == DISABLED_KEY), None)


def _added(text: str, scalar: str) -> str:
    node = _value_node(text)
    if node is None:
        return f"{_ended(text)}{DISABLED_KEY}:\n  - {scalar}\n"
    items = _items(node)
    if not items:  # `[]`, `null`, or nothing behind the colon
        return _replaced(text, node, f"[{scalar}]")
    end = _index(items[-1].end_mark)
    if _is_flow(node):
        return f"{text[:end]}, {scalar}{text[end:]}"
    line_end = _line_end(text, end)
    indent = " " * node.start_mark.column
    return f"{_ended(text[:line_end])}{indent}- {scalar}\n{text[line_end:]}"


def _removed(text: str, name: str) -> str:
    node = _value_node(text)
    items = [] if node is None else _items(node)
    at = next((n for n, item in enumerate(items) if item.value == name), None)
    if node is None or at is None:
        return text
    start, end = _index(items[at].start_mark), _index(items[at].end_mark)
    if _is_flow(node):
        if len(items) == 1:
            return text[:start] + text[end:]
        if at == 0:
            return text[:start] + text[_index(items[1].start_mark) :]
        return text[: _index(items[at - 1].end_mark)] + text[end:]
    line_start, line_end = text.rfind("\n", 0, start) + 1, _line_end(text, end)
    rest = text[:line_start] + text[line_end:]
    if len(items) > 1:
        return rest
    # The last of a block: the key keeps an empty list, for its comments' sake.
    key = next(iter(re.finditer(rf"^{DISABLED_KEY}\s*:", rest, re.MULTILINE)), None)
    return rest if key is None else f"{rest[: key.end()]} []{rest[key.end() :]}"


def _replaced(text: str, node: yaml.Node, value: str) -> str:
    start, end = _index(node.start_mark), _index(node.end_mark)
    space = "" if text[:start].endswith((" ", "\t")) else " "
    return f"{text[:start]}{space}{value}{text[end:]}"


def _items(node: yaml.Node) -> list[yaml.Node]:
    return cast("list[yaml.Node]", node.value) if isinstance(node, yaml.SequenceNode) else []


def _is_flow(node: yaml.Node) -> bool:
    return bool(cast(Any, node).flow_style)


def _index(mark: Any) -> int:
    return cast(int, mark.index)


def _line_end(text: str, start: int) -> int:
    """The index behind the line that `start` stands in."""
    newline = text.find("\n", start)
    return len(text) if newline < 0 else newline + 1


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _scalar(name: str) -> str:
    """The name as YAML: quoted where it could mean something else than a word."""
    is_plain = _PLAIN.fullmatch(name) is not None and yaml.safe_load(name) == name
    return name if is_plain else json.dumps(name, ensure_ascii=False)
