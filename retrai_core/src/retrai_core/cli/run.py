"""`retrai run`: work on a project until its goal passes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import click

from ..plugins.standard_names import LITELLM
from .aliases import no_api_key
from .budget_options import budget_options, hitl_option, max_iterations_option
from .completion import complete_goal, complete_model, complete_option, complete_tools
from .project_option import project_option

if TYPE_CHECKING:
    from pathlib import Path

    from ..runs.handle import Run
    from ..runs.manager import RunManager
    from ..runs.request import RunRequest


@click.command()
@click.argument("goal", required=False, shell_complete=complete_goal)
@project_option
@click.option(
    "-m",
    "--model",
    shell_complete=complete_model,
    help="Model name: offline, replay:FILE, claude-..., gpt-...",
)
@max_iterations_option
@click.option("--task", metavar="TEXT", help="Extra text for the model, such as an issue.")
@click.option(
    "--task-file",
    type=click.File(encoding="utf-8"),
    metavar="FILE",
    help="Read the task from a file; - reads standard input.",
)
@click.option(
    "--confirm",
    type=int,
    metavar="N",
    help="Accept a passing check only if it passes N more times on clean copies.",
)
@click.option(
    "--sandbox",
    metavar="NAME",
    help="Where commands run: bwrap, local, auto; strict refuses to run without isolation.",
)
@hitl_option
@click.option("--json", "as_json", is_flag=True, help="Print only the run record, as JSON.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    shell_complete=complete_option,
    help="Set an option of the goal; may be repeated.",
)
@click.option(
    "--tools",
    metavar="A,B",
    shell_complete=complete_tools,
    help="Replace the goal's tools; +A,-B adds and removes tools instead.",
)
@click.option(
    "--no-tools",
    metavar="A,B",
    shell_complete=complete_tools,
    help="Exclude these tools; a glob like 'git.*' also excludes tools added at run time.",
)
@click.option(
    "--trust",
    is_flag=True,
    help="Approve the settings in .retrai.yml that need consent, until they change.",
)
@click.option(
    "--locked", is_flag=True, help="Refuse any set of plugins other than the one in retrai.lock."
)
@budget_options
@click.option("--stop-mode", type=click.Choice(["soft", "hard"]), hidden=True)
@click.option("--api-base", metavar="URL", hidden=True)
@no_api_key
def run(
    goal: str | None,
    project: Path,
    model: str | None,
    max_iterations: int | None,
    task: str | None,
    task_file: TextIO | None,
    confirm: int | None,
    sandbox: str | None,
    hitl: bool | None,
    as_json: bool,
    options: Sequence[str],
    tools: str | None,
    no_tools: str | None,
    trust: bool,
    locked: bool,
    stop_mode: str | None,
    api_base: str | None,
    **budget: str | None,
) -> int:
    """Work on a project until GOAL passes.

    Without GOAL, the goal is detected from the project's files; `retrai goals list` shows the
    installed ones. Exit codes: 0 achieved or answered, 1 failed, 3 aborted, 4 tampered, 5 stuck, 6
    out of budget, 7 flaky, 70 error, 130 interrupted; 2 is a usage error.
    """
    from .asking import require_someone_to_ask, somebody_watches
    from .foreground import work_in_foreground

    if task is not None and task_file is not None:
        raise click.UsageError("give --task or --task-file, not both")
    if tools is not None and not _names(tools):
        raise click.UsageError("--tools names no tool; without it the run has the goal's own")
    if hitl:
        require_someone_to_ask()
    given = {
        "goal": goal,
        "model": model,
        "max_iterations": max_iterations,
        "task": task_file.read() if task_file is not None else task,
        "confirm": confirm,
        "sandbox": sandbox,
        "hitl_enabled": hitl,
        "options": parse_options(options) or None,
        "tools": _names(tools),
        "no_tools": _names(no_tools),
        "stop_mode": stop_mode,
        "plugins": None if api_base is None else {LITELLM: {"api_base": api_base}},
        **budget,
    }
    watched = somebody_watches()
    ask = partial(prepared, project=project, trusts=trust, locked=locked, attended=watched, **given)

    async def begin(manager: RunManager) -> Run:
        request = await ask(manager)
        if request.interactive:
            require_someone_to_ask()
        return await manager.submit(request)

    return work_in_foreground(begin, as_json=as_json).exit_code or 0


async def prepared(
    manager: RunManager, *, project: Path, trusts: bool = False, **given: Any
) -> RunRequest:
    """The request, once the user agrees to what the project's own file wants run.

    Raises:
        UsageError, PluginError: as `RunManager.prepare`.
    """
    from ..errors import TrustRequired
    from .asking import agrees

    try:
        return await manager.prepare(project, **given)
    except TrustRequired as error:
        if not (trusts or agrees(error)):
            raise
        return await manager.prepare(project, trust=error.digest, **given)


def _names(given: str | None) -> list[str] | None:
    """`a,b` as names; None when it was not given."""
    return None if given is None else [name.strip() for name in given.split(",") if name.strip()]


def parse_options(pairs: Sequence[str]) -> dict[str, Any]:
    """`key=value` pairs, each value read as YAML: `3` is a number, `[a, b]` a list.

    Raises:
        click.UsageError: a pair without `=`, or a value that is not YAML.
    """
    import yaml

    from ..config.yaml_text import parse_yaml

    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise click.UsageError(f"--option takes key=value, not {pair!r}")
        try:
            options[key] = parse_yaml(value) if value else ""
        except (yaml.YAMLError, ValueError) as error:
            raise click.UsageError(
                f"--option {key}: {value!r} is not a YAML value; quote it, as in '{key}=\"...\"'"
            ) from error
    return options
