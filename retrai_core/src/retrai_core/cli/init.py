"""`retrai init`: writes a project's `.retrai.yml` with the goal that fits it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, cast

import click

from ..config.files import PROJECT_FILE, folder_in_the_way
from ..errors import RetraiError, UsageError
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
    before = {} if is_new else _settings_of_file(project)
    goal = goal or cast("str | None", before.pop("goal", None))
    if goal is None:
        goal = _choose_goal(catalog, project)
    else:
        catalog.find("goal", goal)
    model = model or before.pop("model", None)
    hitl = hitl or bool(before.pop("hitl_enabled", False))
    default = before.pop("max_iterations", RunConfig.model_fields["max_iterations"].default)
    text = _TEMPLATE.format(
        goal=goal,
        model=f"model: {model}" if model else "# model: offline",
        max_iterations=default if max_iterations is None else max_iterations,
        hitl="true" if hitl else "false",
    )
    for name in ("goal", "model"):
        before.pop(name, None)
    if before:
        import yaml

        text += yaml.safe_dump(before, sort_keys=False, allow_unicode=True)
    if not is_new:
        text += _kept_options(project, goal)
    try:
        path.write_text(text, encoding="utf-8")
        if is_new:
            give_to_owner_of_folder(path, project)
    except OSError as error:
        raise RetraiError(
            f"{path} cannot be written: {error.strerror or error}",
            hint=f"no file is needed: `retrai run {goal}` takes the same settings as flags",
        ) from error
    _agree_to(project)
    echo(f"wrote {path} with the goal {goal}; `retrai run` starts")


def _settings_of_file(project: Path) -> dict[str, Any]:
    """The file's settings but for options of the goal, by their names in the file.

    Raises:
        UsageError: the file cannot be read.
    """
    from ..config.sources import load_settings

    settings = load_settings(project, {})
    place = str(project / PROJECT_FILE)
    values = settings.config.model_dump(mode="json")
    fields = type(settings.config).model_fields
    return {
        fields[name].alias or name: value
        for name, value in values.items()
        if settings.origins.get(name) == place and name != "options"
    }


def _kept_options(project: Path, goal: str) -> str:
    """The options that the file gives to this goal, under their own names, as YAML.

    Raises:
        UsageError: the file cannot be read.
    """
    import yaml

    from ..config.sources import load_settings
    from ..runs.own_options import with_own_names

    settings = load_settings(project, {"goal": goal})
    shown = with_own_names(settings, Catalog.of(settings))
    place = str(project / PROJECT_FILE)
    kept = {
        name: value
        for name, value in shown.config.options.items()
        if shown.origins.get(f"options.{name}") == place
    }
    if not kept:
        return ""
    lines = yaml.safe_dump(kept, sort_keys=False, allow_unicode=True)
    return f"\n# Options of the goal.\n{lines}"


def _look_at_model(model: str, project: Path) -> None:
    """Refuse a model that nobody serves; of one that only lacks its key, say so.

    Raises:
        UsageError: no provider knows the model.
    """
    from ..config.sources import load_settings
    from ..runs.resolver import NO_KEY_HINT, Resolver

    try:
        Resolver(load_settings(project, {"model": model})).model_name()
    except UsageError as error:
        if error.hint != NO_KEY_HINT:
            raise
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
        raise catalog.no_goal_for(project.resolve())
    for name, evidence in found.items():
        echo(f"{name}: {evidence}")
    first = next(iter(found))
    if len(found) == 1 or not sys.stdin.isatty():
        return first
    answer: str = click.prompt("goal", default=first, type=click.Choice(list(found)))
    return answer
