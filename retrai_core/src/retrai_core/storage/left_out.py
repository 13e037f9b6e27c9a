"""Which of a project's files are in no snapshot."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

from ..workspace.atomic_write import replace_file
from ..workspace.installed import INSTALLED
from ..workspace.tree_walk import Listing


class LeftOut:
    """What snapshots exclude, as determined at the first snapshot.

    Lines that the run adds to a `.gitignore` must not hide other files that it adds. An environment
    that it breaks must not count as new files. A marker file does not turn a folder with project
    files into an environment.

    Args:
        path: where it is remembered.

    Attributes:
        rules: the `.gitignore` files by their folder; None before the first snapshot.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.rules: Mapping[str, str] | None = None
        self._environments: frozenset[str] = frozenset()
        self._folders: frozenset[str] = frozenset()
        if path.exists():
            known = json.loads(path.read_text(encoding="utf-8"))
            self.rules = cast("Mapping[str, str]", known["rules"])
            self._environments = frozenset(cast("list[str]", known["environments"]))
            self._folders = frozenset(cast("list[str]", known.get("folders", [])))

    def begin(self, listing: Listing) -> None:
        """Remember what the first walk saw; later ones change nothing."""
        if self.rules is not None:
            return
        seen = self.taken_from(listing)
        rules, folders = seen.rules, _folders_of(seen.files)
        known = {
            "rules": rules,
            "environments": sorted(listing.environments),
            "folders": sorted(folders),
        }
        replace_file(self._path, json.dumps(known).encode())
        self.rules, self._environments = rules, frozenset(listing.environments)
        self._folders = folders

    def fits(self, listing: Listing) -> bool:
        """Whether the walk ignored what the first one did."""
        return self.rules is not None and self.taken_from(listing).rules == self.rules

    def taken_from(self, listing: Listing) -> Listing:
        """The listing without installed packages, environments and what stands in them."""
        environments = self._environments | (listing.environments - self._folders)
        left_out = tuple(
            f"{folder}/"
            for folder in listing.folders
            if folder in environments or os.path.basename(folder) == INSTALLED
        )
        if not left_out:
            return listing
        return Listing(
            listing.began_ns,
            {path: key for path, key in listing.files.items() if not path.startswith(left_out)},
            {p: mode for p, mode in listing.folders.items() if not f"{p}/".startswith(left_out)},
            listing.environments,
            [path for path in listing.repositories if not path.startswith(left_out)],
            {p: text for p, text in listing.rules.items() if not f"{p}/".startswith(left_out)},
        )


def _folders_of(files: Iterable[str]) -> frozenset[str]:
    """Every folder that holds a file, or a folder with one."""
    found: set[str] = set()
    for path in files:
        folder = os.path.dirname(path)
        while folder and folder not in found:
            found.add(folder)
            folder = os.path.dirname(folder)
    return frozenset(found)
