"""What the guard asks of a sandbox with walls: which files commands see, and may not change."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from ..contracts.context import RunContext
from ..contracts.sandbox import View
from .surroundings import place_in_repository

Masks = Mapping[Path, Path]
"""What commands see in the place of what, in all that they do: a `.git` without held-out tests."""


def forbid_changes(context: RunContext, paths: frozenset[Path], masks: Masks) -> None:
    """Keep commands from changing `paths`, from now on."""
    if context.sandbox_part is not None:
        context.sandbox_part.view = View(read_only=paths, shown=masks, scratch="agent")


@contextmanager
def view_of_a_check(
    context: RunContext, folder: Path, masks: Masks = MappingProxyType({})
) -> Generator[None]:
    """While a check of the tree in `folder` runs: it may write everything, and where that tree is
    a copy, it stands in the project's place too, for what imports the project from there."""
    sandbox = context.sandbox_part
    if sandbox is None:
        yield
        return
    before = sandbox.view
    if folder == context.project:
        sandbox.view = View(shown=masks, scratch="check")
    else:
        # Above the copy lies what lies above the project in its repository.
        depth = len(place_in_repository(context.project).parts) or 1
        room = folder.parents[depth - 1]
        sandbox.view = View(
            shown={
                context.project: folder,
                room: room,
                # The copy brings its own.
                **{p: s for p, s in masks.items() if not p.is_relative_to(context.project)},
            }
        )
    try:
        yield
    finally:
        sandbox.view = before
