"""`retrai demo`: copies the quickstart, a small broken project, to a new folder and mends it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import click

from .completion import complete_model
from .numbers import WholeNumber

QUICKSTART = Path(__file__).parent / "quickstart"


@click.command()
@click.option(
    "-m",
    "--model",
    default="offline",
    show_default=True,
    shell_complete=complete_model,
    help="The model to use.",
)
@click.option(
    "-n", "--max-iterations", type=WholeNumber(), metavar="N", help="How often it may go round."
)
def demo(model: str, max_iterations: int | None) -> int:
    """Mend a small broken project: no key, no network.

    The project is a copy in a new temporary folder, which stays there for you to look at.
    """
    from rich.syntax import Syntax  # TAB imports this module too

    from ..runs.snapshots import Snapshots
    from ..runs.store import RunStore
    from ..settings import load_settings
    from .foreground import run_in_foreground
    from .render.terminal import make_console

    console = make_console()
    project = Path(tempfile.mkdtemp(prefix="retrai-demo-")) / "shop"
    shutil.copytree(
        QUICKSTART, project, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache")
    )
    console.print("a small shop whose tests fail, copied to a temporary folder", style="bold")
    # The copy has no environment of its own, and the python3 on PATH may have no pytest: ours does.
    flags = {
        "model_name": model,
        "max_iterations": max_iterations,
        "python": sys.executable,
        # LangSmith comes with LangChain and hooks itself into every pytest of our environment:
        # 1.7 s of processor time each, three quarters of such a small suite's.
        "options": {"args": ["-p", "no:langsmith_plugin"]},
    }
    record = run_in_foreground(load_settings(project, flags).config)
    changes = Snapshots(RunStore().folder(record.id), project).diff()
    if changes:
        console.print()
        if console.is_terminal:
            console.print(Syntax(changes, "diff", background_color="default"))
        else:
            console.print(changes)
    return record.exit_code or 0
