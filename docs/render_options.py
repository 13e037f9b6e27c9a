"""Draws docs/plugins/options.md from the manifests: `python docs/render_options.py`."""

from __future__ import annotations

import json
from pathlib import Path

from retrai_core.plugins.entry import ManifestEntry
from retrai_core.plugins.kinds import KINDS, Kind
from retrai_core.plugins.manifest import read_manifest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "plugins" / "options.md"
HEAD = """# The options of every first-party plugin

`python docs/render_options.py` writes this page from the plugins' manifests, which
`retrai plugins manifest` writes from the classes. Options of the chosen goal stand at the top level
of `.retrai.yml` or under `goals: {NAME: {...}}`, those of an agent under `agents: {NAME: {...}}`,
all others under `plugins: {NAME: {...}}`. Where a goal's option "needs trust", a value in a
project's own file is [asked about once](../configuration.md#projects-that-are-not-yours); those of
other plugins always are.
"""


def manifests() -> list[Path]:
    """Every first-party manifest, sorted by package."""
    patterns = ("retrai_*/src/*/retrai.toml", "plugins/*/src/*/retrai.toml")
    found = [path for pattern in patterns for path in ROOT.glob(pattern)]
    return sorted(found, key=lambda path: path.parent.name)


def render() -> str:
    """The page's text."""
    parts = [HEAD]
    for path in manifests():
        entries = read_manifest(str(path)) or {}
        order = sorted(entries, key=lambda key: (KINDS.index(key[0]), key[1]))
        parts.append(f"## {path.parent.name.replace('_', '-')}\n")
        parts += [_plugin(kind, name, entries[kind, name]) for kind, name in order]
    return "\n".join(parts)


def _plugin(kind: Kind, name: str, entry: ManifestEntry) -> str:
    needs = ", ".join(f"`{need}`" for need in entry.needs) or "nothing"
    lines = [f"### {kind} `{name}`", "", f"{_cell(entry.summary)} Needs {needs}.", ""]
    if entry.options:
        trust, line = ("needs trust | ", "---|") if kind == "goal" else ("", "")
        lines += [f"| option | type | default | {trust}what it says |", f"|---|---|---|{line}---|"]
    for option_name, option in sorted(entry.options.items()):
        default = json.dumps(option.default, ensure_ascii=False)
        shown = "required" if option.required else "none" if default == "null" else f"`{default}`"
        said = ("yes" if option.needs_trust else "no",) if kind == "goal" else ()
        cells = (f"`{option_name}`", f"`{option.type}`", shown, *said, option.description)
        lines.append(f"| {' | '.join(_cell(cell, end=False) for cell in cells)} |")
    return "\n".join([*lines, ""] if entry.options else lines)


def _cell(text: str, *, end: bool = True) -> str:
    text = text.replace("|", "\\|")
    return f"{text.rstrip('.')}." if end else text


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
