"""The start of the command line. It imports click and nothing heavier until a command is chosen."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module

import click

from .. import __version__
from ..plugins.switches import ALLOW_VARIABLE, NO_PLUGINS
from .help_width import help_width
from .lazy_group import LazyCommand, PluginGroup

COMMANDS = {
    "run": "Work on a project until its goal passes.",
    "init": "Write .retrai.yml for a project.",
    "demo": "Fix a small broken project: no key, no network.",
    "runs": "List, show, resume, compare and prune runs.",
    "plugins": "List plugins, and disable or enable them.",
    "goals": "List the goals and show what one checks.",
    "agents": "List the agents and draw their graphs.",
    "tools": "List the tools that a run can give to the model.",
    "models": "List the models that are available here.",
    "memory": "List or forget strategies learned from earlier runs.",
    "config": "Show every setting and where it comes from.",
    "completion": "Print the TAB completion script for a shell.",
}
"""retrai's own commands, each in the module of its name, and their lines in `--help`."""
ALIASES = {"history": ("runs", "list"), "rollback": ("runs", "undo")}
"""Names of commands that no list shows, each with the command of a group that it means."""


def make_group() -> PluginGroup:
    """The top command, `retrai`."""
    own = [LazyCommand(name, text, partial(_load, name)) for name, text in COMMANDS.items()]
    own += [
        LazyCommand(name, "", partial(_load_part, group, part), hidden=True)
        for name, (group, part) in ALIASES.items()
    ]
    return PluginGroup(
        "retrai",
        own,
        parent="",
        help="Name a goal that a machine can check, and retrai works until the check passes.",
        # Both hold for every command below it.
        context_settings={
            "terminal_width": help_width(),
            "help_option_names": ["-h", "--help"],
        },
        params=[
            click.Option(
                [NO_PLUGINS],
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
    )


def _load(name: str) -> click.Command:
    return getattr(import_module(f".{name}", __package__), name)


def _load_part(group: str, name: str) -> click.Command:
    found = _load(group)
    assert isinstance(found, click.Group)
    return found.commands[name]


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
        ctx.with_resource(_without_plugins())


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from .output import echo

        echo(f"retrai {__version__}")
        ctx.exit()


@contextmanager
def _without_plugins() -> Generator[None]:
    """Set the variable while a command runs: the scan reads it wherever it is called from."""
    before = os.environ.get(ALLOW_VARIABLE)
    os.environ[ALLOW_VARIABLE] = NO_PLUGINS
    try:
        yield
    finally:
        del os.environ[ALLOW_VARIABLE]
        if before is not None:
            os.environ[ALLOW_VARIABLE] = before


def _program_name() -> str:
    import sys

    started = os.path.basename(sys.argv[0]) if sys.argv else ""
    return "python -m retrai_core" if started == "__main__.py" else "retrai"
