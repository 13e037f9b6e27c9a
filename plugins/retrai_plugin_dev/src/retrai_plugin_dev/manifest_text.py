"""Writing a manifest: the same entries always give the same text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from retrai_core import GROUP_OF, Kind, ManifestEntry, OptionEntry

Manifest = Mapping[tuple[Kind, str], ManifestEntry]
"""What a manifest says, by kind and entry-point name."""

# The core reads a file that begins so faster.
_HEADER = "# Written by `retrai plugins manifest` from the classes; `--check` compares.\n"
_SCHEMA = 1
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def manifest_text(entries: Manifest) -> str:
    """The TOML text of a manifest, kinds in their usual order and names sorted.

    Raises:
        TypeError: an option's default has a form that TOML does not know.
    """
    parts = [f"{_HEADER}schema = {_SCHEMA}\n"]
    for kind, group in GROUP_OF.items():
        table = group.removeprefix("retrai.")
        names = sorted(name for of_kind, name in entries if of_kind == kind)
        parts += [_entry(f"{table}.{_key(name)}", entries[kind, name]) for name in names]
    return "\n".join(parts)


def _entry(table: str, entry: ManifestEntry) -> str:
    lines = [f"[{table}]"]
    if entry.summary:
        lines.append(f"summary = {_value(entry.summary)}")
    lines.append(f"needs = {_value(list(entry.needs))}")
    if entry.offered != "by_goal":
        lines.append(f"offered = {_value(entry.offered)}")
    if entry.parent:
        lines.append(f"parent = {_value(entry.parent)}")
    if entry.protects:
        lines.append(f"protects = {_value(entry.protects)}")
    if entry.steers:
        lines.append(f"steers = {_value(entry.steers)}")
    if entry.markers:
        lines.append("markers = [")
        for marker in entry.markers:
            values: dict[str, Any] = {"glob": marker.glob, "contains": marker.contains}
            shown = {key: value for key, value in values.items() if value}
            lines.append(f"    {_value({**shown, 'priority': marker.priority})},")
        lines.append("]")
    for key in ("programs", "model_patterns", "default_tools", "hooks"):
        values_of_key: tuple[str, ...] = getattr(entry, key)
        if values_of_key:
            lines.append(f"{key} = {_value(list(values_of_key))}")
    if entry.options:
        lines += ["", f"[{table}.options]"]
        lines += [
            f"{_key(name)} = {_option(entry.options[name])}" for name in sorted(entry.options)
        ]
    return "\n".join(lines) + "\n"


def _option(option: OptionEntry) -> str:
    shown: dict[str, Any] = {"type": option.type}
    if option.required:
        shown["required"] = True
    elif option.default is not None:
        shown["default"] = option.default
    if option.description:
        shown["description"] = option.description
    if option.runs:
        shown["runs"] = True
    if option.loosens is not None:
        shown["loosens"] = option.loosens
    if option.aliases:
        shown["aliases"] = list(option.aliases)
    return _value(shown)


def _value(value: object) -> str:
    """A value as TOML; None cannot be written, and is left out of tables."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for DEL, which JSON leaves bare.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        items = cast(list[object], value)
        return f"[{', '.join(_value(item) for item in items if item is not None)}]"
    if isinstance(value, dict):
        table = cast(dict[str, object], value)
        pairs = [f"{_key(key)} = {_value(item)}" for key, item in table.items() if item is not None]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    raise TypeError(f"{value!r} cannot be written as TOML")


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _value(name)
