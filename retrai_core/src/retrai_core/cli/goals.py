"""`retrai goals`: the goals that runs can have, here and in general."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from .columns import aligned
from .completion import complete_goal
from .output import echo
from .project_option import project_option
from .render.words import one_line

if TYPE_CHECKING:
    from ..config.files import GoalEntry
    from ..plugins.catalog import Catalog
    from ..plugins.record import PluginRecord

_SCHEMA = 1
_HEADINGS = ("NAME", "SOURCE", "FOUND BY", "SUMMARY")
_LONGEST = 100


class _Goal(NamedTuple):
    """A goal that `retrai run NAME` takes: an installed one, or a check of the project's own.

    Attributes:
        name: what is typed.
        record: the installed goal; None where there is none of that name.
        entry: what the configuration files say about it; None where they say nothing.
        evidence: by what it was found in the project; empty where it was not.
    """

    name: str
    record: PluginRecord | None
    entry: GoalEntry | None
    evidence: str

    @property
    def is_own(self) -> bool:
        """Whether the configuration names it, and another goal makes its check."""
        return self.entry is not None and bool(self.entry.use)

    @property
    def summary(self) -> str:
        """One line."""
        if self.record is None:
            use = self.entry.use if self.entry else ""
            return f"broken: no goal is called {use or self.name}"
        if not self.record.is_usable:
            return f"{self.record.status}: {self.record.error}"
        if self.entry is None or not self.is_own:
            return self.record.summary
        given = ", ".join(f"{key}: {value}" for key, value in self.entry.options.items())
        return f"{self.record.name} with {given}" if given else self.record.summary

    @property
    def source(self) -> str:
        """The distribution, or the file that names the check."""
        if self.entry is not None and self.is_own:
            return Path(self.entry.files[-1]).name
        return f"{self.record.dist} {self.record.version}".rstrip() if self.record else "-"

    def to_json(self) -> dict[str, Any]:
        """JSON values only; the keys are stable within one `schema`."""
        record, entry = self.record, self.entry
        return {
            "name": self.name,
            "use": entry.use if entry and entry.use else None,
            "dist": record.dist if record else None,
            "version": record.version if record else None,
            "status": record.status if record else "broken",
            "summary": self.summary,
            "found": bool(self.evidence),
            "evidence": self.evidence,
            "given": {} if entry is None else dict(entry.options),
            "files": [] if entry is None else list(entry.files),
        }


@click.group()
def goals() -> None:
    """List and describe goals."""


@goals.command("list")
@project_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_goals(project: Path, as_json: bool) -> None:
    """List the goals: name, source, evidence in this project, summary.

    The project's own checks (`goals:` in .retrai.yml) come first. The list comes from the manifests
    and imports no plugin, so a detected goal may still decline the project.
    """
    every = _goals(project)
    if as_json:
        shown = {"schema": _SCHEMA, "goals": [goal.to_json() for goal in every]}
        echo(json.dumps(shown, indent=2, default=str))
        return
    rows = [
        (
            one_line(goal.name, _LONGEST),
            goal.source,
            goal.evidence or "-",
            one_line(goal.summary, _LONGEST),
        )
        for goal in every
    ]
    echo(aligned([_HEADINGS, *rows]))


@goals.command()
@click.argument("name", shell_complete=complete_goal)
@project_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(name: str, project: Path, as_json: bool) -> None:
    """Show what the goal NAME checks, its options, its protected files and its tools."""
    every = _goals(project)
    found = [goal for goal in every if goal.name == name]
    found = found or [goal for goal in every if goal.record and goal.record.full_name == name]
    if not found:
        from ..plugins.catalog import Catalog

        own = [goal.name for goal in every if goal.is_own]
        raise Catalog.configured(project).unknown(name, "goal", own)
    if as_json:
        shown = {"schema": _SCHEMA, "goals": [_described_as_json(goal) for goal in found]}
        echo(json.dumps(shown, indent=2, default=str))
        return
    echo("\n\n".join(_described(goal) for goal in found))


def _goals(project: Path) -> list[_Goal]:
    from ..config.files import read_goal_entries  # TAB imports this module too
    from ..plugins.catalog import Catalog

    catalog = Catalog.configured(project)
    entries = read_goal_entries(project)
    evidence: dict[int, str] = {}
    for hit in catalog.detect(project):
        evidence.setdefault(id(hit.record), hit.evidence)
    own = [
        _Goal(name, _made_with(catalog, entry.use), entry, Path(entry.files[-1]).name)
        for name, entry in entries.items()
        if entry.use
    ]
    broken = [
        _Goal(name, None, entry, Path(entry.files[-1]).name)
        for name, entry in entries.items()
        if not entry.use and not catalog.matching(name, "goal")
    ]
    taken = {goal.name for goal in own}
    installed = [
        _Goal(record.name, record, entries.get(record.name), evidence.get(id(record), ""))
        for record in catalog.records("goal")
        if record.name not in taken
    ]
    return [*sorted([*own, *broken], key=lambda goal: goal.name), *installed]


def _made_with(catalog: Catalog, use: str) -> PluginRecord | None:
    return next(iter(catalog.matching(use, "goal")), None)


def _described_as_json(goal: _Goal) -> dict[str, Any]:
    record = goal.record
    if record is None:
        return goal.to_json()
    plugin = record.to_json()
    keys = ("options", "protects", "steers", "default_tools", "needs", "programs", "markers")
    return {**goal.to_json(), **{key: plugin[key] for key in keys}}


def _described(goal: _Goal) -> str:
    record, entry = goal.record, goal.entry
    fields: list[tuple[str, str]] = [
        ("summary", record.summary if record else goal.summary),
        ("made with", _made_by(entry) if entry and goal.is_own else ""),
    ]
    if record is not None:
        fields += [
            ("distribution", f"{record.dist} {record.version}".rstrip()),
            ("problem", "" if record.is_usable else f"{record.status}: {record.error}"),
            ("found by", goal.evidence or "nothing in this project"),
            ("protects", record.protects),
            ("sets aside", record.steers),
            ("tools", ", ".join(record.default_tools)),
            ("programs", ", ".join(record.programs)),
        ]
    lines = [
        one_line(goal.name, _LONGEST),
        aligned((f"  {label}", text) for label, text in fields if text),
    ]
    lines += _options(record, entry)
    return "\n".join(lines)


def _made_by(entry: GoalEntry) -> str:
    return f"{one_line(entry.use, _LONGEST)} (from {entry.files[-1]})"


def _options(record: PluginRecord | None, entry: GoalEntry | None) -> list[str]:
    """Each option with its default and, where the files give one, its value."""
    given: Mapping[str, Any] = {} if entry is None else entry.options
    if record is None or not record.options:
        return []
    rows = [("  OPTION", "TYPE", "DEFAULT", "HERE", "")]
    for name, option in record.options.items():
        default = "required" if option.required else json.dumps(option.default, ensure_ascii=False)
        here = "-"
        if name in given:
            here = one_line(json.dumps(given[name], ensure_ascii=False, default=str), _LONGEST)
        rows.append((f"  {name}", option.type, default, here, option.description))
    return ["", aligned(rows)]
