"""Reads single lines of a manifest that retrai wrote, which have a fixed form.

Help pages, lists and TAB need a few lines of each plugin; parsing the TOML files would double their
time.
"""

from __future__ import annotations

from .entry import BriefEntry

WRITTEN = "# Written by `retrai plugins manifest`"
"""The beginning of a manifest that retrai wrote."""
SCHEMA = 1
"""The form of a manifest that this retrai reads."""


def written_manifest(path: str) -> str | None:
    """The text of a manifest; None where it cannot be read, or is not as retrai writes it."""
    try:
        with open(path, "rb") as file:
            text = file.read().decode()
    except (OSError, UnicodeDecodeError):
        return None
    is_ours = text.startswith(WRITTEN) and f"\nschema = {SCHEMA}\n" in text
    return text if is_ours and all(map(_has_form, text.split("\n"))) else None


def brief_entry(manifest: str, table: str) -> BriefEntry | None:
    """What lists show of one table of a written manifest; None where it takes a TOML reader.

    Example:
        >>> text = '\\n[goals.tidy]\\nsummary = "all tidy"\\nneeds = ["read"]\\n'
        >>> brief_entry(text, "goals.tidy")
        BriefEntry(summary='all tidy', needs=('read',), parent='', model_patterns=())
    """
    section = manifest.partition(f"\n[{table}]\n")[2].partition("\n[")[0]
    parts = (line.partition(" = ") for line in section.split("\n"))
    lines = {key: value for key, _, value in parts}
    summary, parent = (_text(lines.get(key, '""')) for key in ("summary", "parent"))
    needs, patterns = (_texts(lines.get(key, "[]")) for key in ("needs", "model_patterns"))
    if not section or summary is None or parent is None or needs is None or patterns is None:
        return None
    return BriefEntry(summary, needs, parent, patterns)


def _text(value: str) -> str | None:
    is_plain = value[:1] == value[-1:] == '"' and len(value) > 1
    return value[1:-1] if is_plain and not {'"', "\\"} & set(value[1:-1]) else None


def _texts(value: str) -> tuple[str, ...] | None:
    if value == "[]":
        return ()
    is_plain = value.startswith('["') and value.endswith('"]') and "\\" not in value
    texts = tuple(value[2:-2].split('", "')) if is_plain else ()
    return texts if texts and not any('"' in text for text in texts) else None


def _has_form(line: str) -> bool:
    if not line or line.startswith(("#", "    { ")) or line == "]":
        return True
    if line[0] == "[":
        return line[-1] == "]"
    _, equals, value = line.partition(" = ")
    return bool(equals) and (value[-1:] in ('"', "]", "}", "[") or value.isalnum())
