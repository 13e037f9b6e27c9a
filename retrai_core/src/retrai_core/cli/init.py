"""`retrai init`: writes a project's `.retrai.yml` with the goal that fits it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, cast

import click

from ..config.files import PROJECT_FILE, folder_in_the_way
from ..errors import UsageError
from ..plugins.catalog import Catalog
from ..workspace.owners import give_to_owner_of_folder
from .aliases import AliasedOption
from .completion import complete_goal, complete_model
from .output import echo
from .project_option import project_option

_TEMPLATE = """\
# What retrai does in this project; `retrai config show` says where each value comes from.
goal: {goal}
{model}
# Maximum iterations.
max_iterations: {max_iterations}
# Ask before each new iteration.
hitl_enabled: {hitl}
"""
_IN_TEMPLATE = frozenset({"goal", "model", "max_iterations", "hitl_enabled"})


@click.command()
@project_option
@click.option(
    "--goal",
    cls=AliasedOption,
    aliases=["-g"],
    shell_complete=complete_goal,
    help="The goal. Default: detected from the project.",
)
@click.option(
    "-m",
    "--model",
    shell_complete=complete_model,
    help="The model. Default: chosen at each run.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file; its settings are kept.")
@click.option("--hitl", is_flag=True, hidden=True)
@click.option("--max-iterations", cls=AliasedOption, aliases=["--max-iter"], type=int, hidden=True)
def init(
    project: Path,
    goal: str | None,
    model: str | None,
    force: bool,
    hitl: bool,
    max_iterations: int | None,
) -> None:
    """Write .retrai.yml for a project.

    If several goals fit, asks which one to use, but only on a terminal.
    """
    from ..config.model import RunConfig

    path = project / PROJECT_FILE
    if not project.is_dir():
        raise UsageError(f"no such folder: {project}", hint="give the project's folder with -C DIR")
    if path.is_dir():
        raise folder_in_the_way(str(path))
    if path.exists() and not force:
        raise UsageError(f"{path} is there already", hint="--force writes over it")
    if model:
        _look_at_model(model, project)
    if max_iterations is not None:
        from ..config.sources import load_settings

        load_settings(project, {"max_iterations": max_iterations})  # refuses what cannot be
    catalog = Catalog.configured(project)
    is_new = not os.path.lexists(path)
    kept = {} if is_new else _settings_of_file(project, catalog)
    options = cast("dict[str, Any]", kept.pop("options", {}))
    if goal is None:
        goal = cast("str", kept.get("goal") or _choose_goal(catalog, project))
    else:
        catalog.find("goal", goal)
        if goal != kept.get("goal", goal):
            options = {}
    model = model or kept.get("model")
    if max_iterations is None:
        default = RunConfig.model_fields["max_iterations"].default
        max_iterations = kept.get("max_iterations", default)
    text = _TEMPLATE.format(
        goal=goal,
        model=f"model: {model}" if model else "# model: offline",
        max_iterations=max_iterations,
        hitl="true" if hitl or kept.get("hitl_enabled") else "false",
    )
    text += _as_yaml({name: kept[name] for name in kept if name not in _IN_TEMPLATE})
    if options:
        text += f"\n# Options of the goal.\n{_as_yaml(options)}"
    try:
        path.write_text(text, encoding="utf-8")
        if is_new:
            give_to_owner_of_folder(path, project)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror or error}",
            hint=f"no file is needed: `retrai run {goal}` takes the same settings as flags",
        ) from error
    _agree_to(project)
    echo(f"wrote {path} with the goal {goal}; `retrai run` starts")


def _settings_of_file(project: Path, catalog: Catalog) -> dict[str, Any]:
    """The file's settings by their names in it, the options of its goal under their own names.

    Raises:
        UsageError: the file cannot be read.
    """
    from ..config.sources import load_settings
    from ..runs.own_options import with_own_names

    settings = with_own_names(load_settings(project), catalog)
    fields = type(settings.config).model_fields
    place = str(project / PROJECT_FILE)
    found = {
        fields[name].alias or name: value
        for name, value in settings.config.model_dump(mode="json").items()
        if settings.origins.get(name) == place
    }
    options = found.get("options", {})
    found["options"] = {n: options[n] for n in options if settings.origins[f"options.{n}"] == place}
    return found


def _as_yaml(settings: dict[str, Any]) -> str:
    import yaml

    lines: str = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)
    return lines if settings else ""


def _look_at_model(model: str, project: Path) -> None:
    """Refuse a model that nobody serves; of one that only lacks its key, say so.

    Raises:
        UsageError: no provider knows the model.
    """
    from ..config.sources import load_settings
    from ..runs.resolver import ModelNotReadyError, Resolver

    try:
        Resolver(load_settings(project, {"model": model})).model_name()
    except ModelNotReadyError as error:
        echo(f"note: {error.message}", err=True)


def _agree_to(project: Path) -> None:
    """What the user has just had written is the user's own word."""
    from ..config.sources import load_settings
    from ..runs.trust import agree, claims_of

    settings = load_settings(project)
    claims = claims_of(settings)
    if claims:
        agree(settings.config.cwd, claims)


def _choose_goal(catalog: Catalog, project: Path) -> str:
    """The goal that fits the project best; asked for where several do and someone can answer."""
    found: dict[str, str] = {}
    for hit in catalog.detect(project):
        found.setdefault(hit.record.name, hit.evidence)
    if not found:
        raise catalog.no_goal_for(project.resolve(), "retrai init --goal GOAL")
    for name, evidence in found.items():
        echo(f"{name}: {evidence}")
    first = next(iter(found))
    if len(found) == 1 or not sys.stdin.isatty():
        return first
    answer: str = click.prompt("goal", default=first, type=click.Choice(list(found)))
    return answer
