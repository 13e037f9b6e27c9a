"""What a run changed, told apart into tests and sources, and how to take the sources back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import RetraiError
from ..storage.git_store import Entry
from ..storage.restore import entry_of, put_entry
from ..storage.snapshots import Snapshots
from .guard import Guard


@dataclass(frozen=True)
class SourceChanges:
    """What the run changed, told apart into tests and sources.

    Attributes:
        snapshots: of the run.
        tests: paths of what belongs to the check.
        sources: by path, what stood there before the first turn; None where nothing did.
    """

    snapshots: Snapshots
    tests: frozenset[str] = frozenset()
    sources: Mapping[str, Entry | None] = field(default_factory=dict[str, Entry | None])

    @classmethod
    def of(cls, guard: Guard, snapshots: Snapshots) -> SourceChanges:
        """The changes between the first and the last snapshot; none where there are not two."""
        every = snapshots.all()
        if not snapshots.available or len(every) < 2:
            return cls(snapshots)
        before, now = snapshots.entries(every[0]), snapshots.entries(every[-1])
        paths = sorted(before.keys() | now.keys())
        changed = [path for path in paths if before.get(path) != now.get(path)]
        # Not every file with cases: sources hold some too (docstrings, inline tests in Rust).
        tests = {path for path in changed if guard.belongs_to_check(path)}
        sources = {path: before.get(path) for path in changed if path not in tests}
        return cls(snapshots, frozenset(tests), sources)

    def undo(self, copy: Path) -> None:
        """Put the sources in a copy back as they were.

        Raises:
            RetraiError: one of them cannot be put back.
        """
        for path, entry in sorted(self.sources.items(), key=lambda pair: pair[1] is not None):
            target = copy / path
            if entry is None:
                target.unlink(missing_ok=True)
            elif entry_of(target) != entry and not put_entry(
                target, entry, self.snapshots.content(entry)
            ):
                raise RetraiError(f"{path} cannot be put back as it was")
