"""`retrai serve`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from retrai_core import UsageError, echo

_EXPOSES = (
    "--host {host} is open to other machines, without encryption: whoever has the token starts "
    "runs there, which read, change and run files as you"
)


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "-p",
    "--port",
    type=click.IntRange(0, 65535),
    default=8420,
    show_default=True,
    help="Port. The default one, if taken: the next free one.",
)
@click.option(
    "--root",
    "roots",
    multiple=True,
    metavar="DIR",
    help="Serve only projects beneath DIR; may be given several times. Default: this folder.",
)
@click.option(
    "--max-parallel",
    type=click.IntRange(min=1),
    metavar="N",
    help="Runs at once; more wait. Default: the number of cores.",
)
@click.option("--store", metavar="NAME", help="Store that keeps the runs. Default: the user's.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
@click.option("--detach", is_flag=True, help="Let runs go on when the server ends.")
@click.option("--allow-remote", is_flag=True, help="Allow a --host that other machines reach.")
@click.pass_context
def serve(
    context: click.Context,
    host: str,
    port: int,
    roots: Sequence[str],
    max_parallel: int | None,
    store: str | None,
    open_browser: bool,
    detach: bool,
    allow_remote: bool,
) -> None:
    """Serve a web API and a dashboard for the runs of the projects beneath a folder.

    Prints an address with a token, which is new at each start. Ctrl-C ends the server and
    interrupts its runs, which can be resumed.
    """
    from .security import is_loopback
    from .server import ServerOptions
    from .serving import serve as serve_until_signal

    if not is_loopback(host):
        exposes = _EXPOSES.format(host=host)
        if not allow_remote:
            raise UsageError(exposes, hint="`--allow-remote` does it all the same")
        echo(f"warning: {exposes}", err=True)
    folders = tuple(_resolved(root) for root in roots or (".",))
    parallel = max_parallel or os.cpu_count() or 1
    options = ServerOptions(folders, host, port, parallel, store, detach)
    exact = context.get_parameter_source("port") is not ParameterSource.DEFAULT
    asyncio.run(serve_until_signal(options, exact_port=exact, open_browser=open_browser))


def _resolved(root: str) -> Path:
    if not root:  # a variable that is not set must not serve the current folder
        raise UsageError("--root: the folder has no name", hint="`--root .` is the current one")
    folder = Path(root).resolve()
    if not folder.is_dir():
        what = "not a folder" if folder.exists() else "no such folder"
        raise UsageError(f"--root {root}: {what}")
    return folder
