"""The start of the command line. It imports click and nothing heavier until a command is chosen."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager

import click

from .. import __version__
from .lazy_group import LazyCommand, LazyGroup, frontend_summaries, load_frontend

COMMANDS = {
    "run": LazyCommand(".run", "run", "Work on a project until its goal passes."),
    "init": LazyCommand(".init", "init", "Write .retrai.yml for a project."),
    "demo": LazyCommand(".demo", "demo", "Fix a small broken project: no key, no network."),
    "runs": LazyCommand(".runs", "runs", "List, show, resume, compare and prune runs."),
    "plugins": LazyCommand(".plugins", "plugins", "List plugins, and disable or enable them."),
    "goals": LazyCommand(".goals", "goals", "List the goals and show what one checks."),
    "agents": LazyCommand(".agents", "agents", "List the agents and draw their graphs."),
    "tools": LazyCommand(".tools", "tools", "List the tools that a run can give to the model."),
    "models": LazyCommand(".models", "models", "List the models that are available here."),
    "memory": LazyCommand(
        ".memory", "memory", "List or forget strategies learned from earlier runs."
    ),
    "config": LazyCommand(".config", "config", "Show every setting and where it comes from."),
    "completion": LazyCommand(
        ".completion", "completion", "Print the TAB completion script for a shell."
    ),
}
ONLY_CORE = {"RETRAI_PLUGINS": "--no-plugins"}
"""As `plugins.switches` reads it, which the help page has no time to import."""


def make_group() -> LazyGroup:
    """The top command, `retrai`."""
    return LazyGroup(
        "retrai",
        COMMANDS,
        frontend_summaries,
        load_frontend,
        params=[
            click.Option(
                ["--no-plugins"],
                is_flag=True,
                is_eager=True,  # `--no-plugins --help` lists no plugin's command either
                expose_value=False,
                callback=_leave_plugins_out,
                help="Ignore all installed plugins.",
            ),
            click.Option(
                ["--version"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_show_version,
                help="Show the version and exit.",
            ),
        ],
        help_text="Name a goal that a machine can check, and retrai works until the check passes.",
    )


def main(args: Sequence[str] | None = None) -> int:
    """Run a command; the exit code. Nothing that a command raises gets past this function."""
    # pydantic reads every installed distribution's entry points to look for plugins of its own, and
    # fails with the first file that is not UTF-8: one broken distribution would stop every run.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        result = make_group().main(args, prog_name=_program_name(), standalone_mode=False)
    except BaseException as error:
        if isinstance(error, (SystemExit, GeneratorExit)):
            raise
        from .failures import explain_failure  # the traceback tools are for those who need them

        return explain_failure(error)
    finally:
        if args is None:  # the process ends next
            # Python's last collection looks at all that was imported, for a tenth of a page's time.
            gc.freeze()
    return result if isinstance(result, int) else 0


def _leave_plugins_out(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.with_resource(_environment(ONLY_CORE))


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from .output import echo

        echo(f"retrai {__version__}")
        ctx.exit()


@contextmanager
def _environment(values: dict[str, str]) -> Generator[None]:
    """Set variables while a command runs: the scan reads them wherever it is called from."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _program_name() -> str:
    import sys

    started = os.path.basename(sys.argv[0]) if sys.argv else ""
    return "python -m retrai_core" if started == "__main__.py" else "retrai"
