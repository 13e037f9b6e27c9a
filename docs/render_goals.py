"""Writes the pages of the goals and tools: `python docs/render_goals.py`.

Of `docs/goals/NAME.md` and `docs/tools/NAME.md` everything down to the line `END` is written from
the plugin's class and manifest; what stands below it is written by hand and kept. It must hold one
line `Run against: PROGRAM VERSION (WHAT TESTS IT)`, which `docs/goals/README.md` gathers.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from retrai_core.plugins.describe import describe_plugin
from retrai_core.plugins.entry import ManifestEntry, OptionEntry
from retrai_core.plugins.kinds import Kind

ROOT = Path(__file__).parents[1]
END = "<!-- What stands above is written by `python docs/render_goals.py`. -->"
TO_DO = "Run against: nothing yet."
_RUN_AGAINST = re.compile(r"^Run against: (.+?)(?:\n\n|\n?\Z)", re.MULTILINE | re.DOTALL)
KINDS: Mapping[str, Kind] = {"retrai.goals": "goal", "retrai.tools": "tool"}


@dataclass(frozen=True)
class Documented:
    """A goal or tool of this repository: its kind, name, distribution, class and manifest entry."""

    kind: Kind
    name: str
    dist: str
    cls: type[Any]
    entry: ManifestEntry

    @property
    def page(self) -> Path:
        return ROOT / "docs" / f"{self.kind}s" / f"{self.name}.md"


def documented() -> Iterator[Documented]:
    """Every first-party goal and tool, by the entry points in each pyproject.toml, sorted."""
    patterns = ("retrai_*/pyproject.toml", "plugins/*/pyproject.toml")
    for path in sorted(found for pattern in patterns for found in ROOT.glob(pattern)):
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        if project["name"] == "retrai-testkit":
            continue  # its goal and tool are for tests of plugins
        for group, kind in KINDS.items():
            for name, target in sorted(project.get("entry-points", {}).get(group, {}).items()):
                module, _, attribute = target.partition(":")
                cls = getattr(import_module(module), attribute)
                yield Documented(kind, name, project["name"], cls, describe_plugin(kind, cls))


def generated(one: Documented) -> str:
    """The part of a page that comes from the code."""
    lines = [f"# {one.kind} `{one.name}`", "", f"{_sentence(one.entry.summary)}", ""]
    lines += _facts(one)
    title = "What `achieved` means" if one.kind == "goal" else "What it does"
    lines += [f"## {title}", "", _text(one), ""]
    if one.kind == "tool":
        lines += ["## Arguments", "", *_arguments(one.cls.Args), ""]
    where = (
        "At the top level of `.retrai.yml`, or as `--option NAME=VALUE`."
        if one.kind == "goal"
        else f"In `.retrai.yml` under `plugins: {{{one.name}: {{...}}}}`."
    )
    lines += ["## Options", ""]
    lines += [where, "", *_options(one.entry.options)] if one.entry.options else ["None."]
    return "\n".join([*lines, "", END, ""])


def page(one: Documented) -> str:
    """The whole page: the generated part anew, what is written by hand as it is."""
    by_hand = f"\n{TO_DO}\n"
    if one.page.exists():
        by_hand = one.page.read_text(encoding="utf-8").partition(f"{END}\n")[2] or by_hand
    return generated(one) + by_hand


def run_against(one: Documented) -> str:
    """The real programs that a page says its plugin was run against; empty when it does not say."""
    text = one.page.read_text(encoding="utf-8") if one.page.exists() else ""
    found = _RUN_AGAINST.search(text.partition(f"{END}\n")[2])
    said = " ".join(found[1].split()) if found else ""
    return "" if f"Run against: {said}" == TO_DO else said


def index(every: list[Documented]) -> str:
    """`docs/goals/README.md`: each goal and tool, and the real program it was run against."""
    lines = [
        "# Goals and tools",
        "",
        "Type `retrai run NAME` to work towards a goal. Without a name, retrai looks for a goal by",
        "the markers in the project. The one whose marker has the lowest number comes first; the",
        "number stands in brackets on its page. Each name below links to its page.",
        "",
        "`python docs/render_goals.py` writes this page from the code and from those pages.",
    ]
    for kind, head in (("goal", "achieved means"), ("tool", "what it does")):
        lines += ["", f"## {kind.capitalize()}s", ""]
        lines += [f"| {kind} | distribution | {head} | run against |", "|---|---|---|---|"]
        for one in every:
            if one.kind == kind:
                place = one.page.relative_to(ROOT / "docs").as_posix()
                link = f"[`{one.name}`](../{place})"
                cells = (link, one.dist, _sentence(one.entry.summary), run_against(one))
                lines.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    return "\n".join([*lines, ""])


def _facts(one: Documented) -> list[str]:
    entry = one.entry
    needs = ", ".join(f"`{need}`" for need in entry.needs) or "nothing"
    facts = [f"- Distribution: `{one.dist}`", f"- Needs: {needs}"]
    if entry.programs:
        facts.append(f"- Programs: {', '.join(f'`{name}`' for name in entry.programs)}")
    if entry.offered == "always":
        facts.append("- Offered: to every run")
    if entry.protects:
        facts.append(f"- Protects: {entry.protects}")
    if entry.steers:
        facts.append(f"- Sets aside: {entry.steers}")
    marks = [
        f"`{mark.glob}`{f' with `{mark.contains}`' if mark.contains else ''} ({mark.priority})"
        for mark in entry.markers
    ]
    if marks:
        facts.append(f"- Found by: {', '.join(marks)}")
    return [*facts, ""]


def _text(one: Documented) -> str:
    """A goal's class says what `achieved` means; a tool's description is what the model reads."""
    text = inspect.cleandoc(one.cls.__doc__ or "") if one.kind == "goal" else one.cls.description
    return text.partition("\nExample:")[0].strip()


def _arguments(model: type[Any]) -> list[str]:
    schema = model.model_json_schema()
    required = set(schema.get("required", ()))
    lines = ["| argument | default | what it says |", "|---|---|---|"]
    for name, field in schema.get("properties", {}).items():
        default = json.dumps(field.get("default"), ensure_ascii=False)
        shown = "required" if name in required else "none" if default == "null" else f"`{default}`"
        lines.append(f"| `{name}` | {_cell(shown)} | {_cell(field.get('description', ''))} |")
    return lines if len(lines) > 2 else ["None."]


def _options(options: Mapping[str, OptionEntry]) -> list[str]:
    lines = ["| option | type | default | what it says |", "|---|---|---|---|"]
    for name, option in sorted(options.items()):
        default = json.dumps(option.default, ensure_ascii=False)
        shown = "required" if option.required else "none" if default == "null" else f"`{default}`"
        cells = (f"`{name}`", f"`{option.type}`", shown, option.description)
        lines.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    return lines


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def main() -> int:
    every = list(documented())
    for one in every:
        one.page.parent.mkdir(exist_ok=True)
        one.page.write_text(page(one), encoding="utf-8")
    (ROOT / "docs" / "goals" / "README.md").write_text(index(every), encoding="utf-8")
    silent = [str(one.page.relative_to(ROOT)) for one in every if not run_against(one)]
    for name in silent:
        sys.stderr.write(f"{name} does not say yet what it was run against\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
