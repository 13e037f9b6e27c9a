"""What the guard asks of a sandbox with walls: which files commands see, and may not change."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ..contracts.context import RunContext
from ..contracts.sandbox import View
from .surroundings import place_in_repository


def forbid_changes(context: RunContext, paths: frozenset[Path]) -> None:
    """Keep commands from changing `paths`, from now on."""
    if context.sandbox_part is not None:
        context.sandbox_part.view = View(read_only=paths, scratch="agent")


@contextmanager
def view_of_a_check(context: RunContext, folder: Path) -> Generator[None]:
    """While a check of the tree in `folder` runs: it may write everything, and where that tree is
    a copy, it stands in the project's place too, for what imports the project from there."""
    sandbox = context.sandbox_part
    if sandbox is None:
        yield
        return
    before = sandbox.view
    if folder == context.project:
        sandbox.view = View(scratch="check")
    else:
        # Above the copy lies what lies above the project in its repository.
        depth = len(place_in_repository(context.project).parts) or 1
        room = folder.parents[depth - 1]
        sandbox.view = View(shown={context.project: folder, room: room})
    try:
        yield
    finally:
        sandbox.view = before
