"""`retrai demo`: copies the quickstart, a small broken project, to a new folder and fixes it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .completion import complete_model
from .with_manager import with_manager

if TYPE_CHECKING:
    from ..runs.handle import Run
    from ..runs.manager import RunManager


@click.command()
@click.option(
    "-m",
    "--model",
    default="offline",
    show_default=True,
    shell_complete=complete_model,
    help="The model to use.",
)
@click.option("-n", "--max-iterations", type=int, metavar="N", help="Maximum iterations.")
def demo(model: str, max_iterations: int | None) -> int:
    """Fix a small broken project: no key, no network.

    The project is a copy in a new temporary folder, which is kept for you to inspect.
    """
    from rich.syntax import Syntax

    from .asking import somebody_watches
    from .foreground import work_in_foreground
    from .render.terminal import make_console

    console = make_console()
    project = Path(tempfile.mkdtemp(prefix="retrai-demo-")) / "shop"
    console.print("a small shop whose tests fail, copied to a temporary folder", style="bold")
    given: dict[str, Any] = {
        "model": model,
        "max_iterations": max_iterations,
        "attended": somebody_watches(),
    }

    async def begin(manager: RunManager) -> Run:
        return await manager.submit(await manager.demo(project, **given))

    async def changed(manager: RunManager) -> str:
        return await (await manager.get(record.id)).diff()

    record = work_in_foreground(begin, as_json=False)
    changes = with_manager(changed)
    if changes:
        console.print()
        if console.is_terminal:
            console.print(Syntax(changes, "diff", background_color="default"))
        else:
            console.print(changes)
    return record.exit_code or 0
