"""What a run changed among installed packages, for whoever can tell what is right of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .context import RunContext


@dataclass(frozen=True, slots=True)
class InstalledFiles:
    """Files of packages that a run changed, and the project as the run found it.

    All paths are relative to the project, with `/` between the parts.

    Attributes:
        context: the run.
        paths: files and symlinks in and below `node_modules` that were changed.
        changed: every changed file, those of `paths` among them.
        known: the project's own files when the run began; empty where none could be kept.
        before: the bytes of one of those, as they were.
        may_change: whether the user lets the run change a file (`allow_edit:`, or by hand); what
            it says now is not the user's word.
    """

    context: RunContext = field(repr=False)
    paths: Sequence[str]
    changed: frozenset[str]
    known: Sequence[str]
    before: Callable[[str], bytes] = field(repr=False)
    may_change: Callable[[str], bool] = field(repr=False)
