"""`retrai goals`: the goals that runs can have, here and in general."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..plugins.catalog import Catalog
from ..plugins.record import PluginRecord
from .columns import aligned
from .completion import complete_goal
from .lazy_group import PluginGroup
from .output import echo
from .project_option import project_option
from .render.words import one_line

if TYPE_CHECKING:
    from ..config.sources import Settings

_SCHEMA = 1
_HEADINGS = ("NAME", "SOURCE", "FOUND BY", "SUMMARY")
_LONGEST = 100


class _Goal(NamedTuple):
    """A goal that `retrai run NAME` takes: an installed one, or a check of the project's own.

    Attributes:
        name: what is typed.
        record: the installed goal; None where there is none of that name.
        evidence: by what it was found in the project; empty where it was not.
        use: the installed goal that a check of the project's own is made with; else empty.
        given: the options that the configuration files give it.
        files: the configuration files that name it.
    """

    name: str
    record: PluginRecord | None
    evidence: str
    use: str = ""
    given: Mapping[str, Any] = MappingProxyType({})
    files: Sequence[str] = ()

    @property
    def summary(self) -> str:
        """One line."""
        if self.record is None:
            return f"broken: no goal is called {self.use or self.name}"
        if not self.record.is_usable:
            return f"{self.record.status}: {self.record.error}"
        given = ", ".join(f"{key}: {value}" for key, value in self.given.items())
        return f"{self.record.name} with {given}" if self.use and given else self.record.summary

    @property
    def source(self) -> str:
        """The distribution, or the file that names the check."""
        if self.use:
            return Path(self.files[-1]).name
        return f"{self.record.dist} {self.record.version}".rstrip() if self.record else "-"

    def to_json(self) -> dict[str, Any]:
        """JSON values only; the keys are stable within one `schema`."""
        record = self.record
        return {
            "name": self.name,
            "use": self.use or None,
            "dist": record.dist if record else None,
            "version": record.version if record else None,
            "status": record.status if record else "broken",
            "summary": self.summary,
            "found": bool(self.evidence),
            "evidence": self.evidence,
            "given": dict(self.given),
            "files": list(self.files),
        }


@click.group(cls=PluginGroup)
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
        own = [goal.name for goal in every if goal.use]
        raise Catalog.configured(project).unknown(name, "goal", own)
    if as_json:
        shown = {"schema": _SCHEMA, "goals": [_described_as_json(goal) for goal in found]}
        echo(json.dumps(shown, indent=2, default=str))
        return
    echo("\n\n".join(_described(goal) for goal in found))


def _goals(project: Path) -> list[_Goal]:
    from ..config.sources import load_settings  # TAB imports this module too

    settings = load_settings(project)
    config, catalog = settings.config, Catalog.of(settings)
    evidence: dict[int, str] = {}
    for hit in catalog.detect(project):
        evidence.setdefault(id(hit.record), hit.evidence)
    named: list[_Goal] = []
    for name in sorted(config.goals):
        use, files = config.plugin_of(name), _files(settings, name)
        found = catalog.matching(use, "goal")
        if use != name or not found:
            record, own = next(iter(found), None), use if use != name else ""
            place = Path(files[-1]).name
            named.append(_Goal(name, record, place, own, config.options_of(name), files))
    taken = {goal.name for goal in named}
    installed = [
        _Goal(
            record.name,
            record,
            evidence.get(id(record), ""),
            given=config.options_of(record.name),
            files=_files(settings, record.name),
        )
        for record in catalog.records("goal")
        if record.name not in taken
    ]
    return [*named, *installed]


def _files(settings: Settings, goal: str) -> list[str]:
    """The configuration files that name a goal, the strongest last."""
    if goal not in settings.config.goals:
        return []
    key = f"goals.{goal}"
    of_options = [settings.origins[f"{key}.{option}"] for option in settings.config.goals[goal]]
    strongest = settings.origins[key]
    return [*dict.fromkeys(file for file in of_options if file != strongest), strongest]


def _described_as_json(goal: _Goal) -> dict[str, Any]:
    record = goal.record
    if record is None:
        return goal.to_json()
    plugin = record.to_json()
    keys = ("options", "protects", "steers", "default_tools", "needs", "programs", "markers")
    return {**goal.to_json(), **{key: plugin[key] for key in keys}}


def _described(goal: _Goal) -> str:
    record = goal.record
    made_with = f"{one_line(goal.use, _LONGEST)} (from {goal.files[-1]})" if goal.use else ""
    fields: list[tuple[str, str]] = [
        ("summary", record.summary if record else goal.summary),
        ("made with", made_with),
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
    return "\n".join([*lines, *_options(record, goal.given)])


def _options(record: PluginRecord | None, given: Mapping[str, Any]) -> list[str]:
    """Each option with its default and, where the files give one, its value."""
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
