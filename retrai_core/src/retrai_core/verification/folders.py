"""All folders of a project, ignored ones and those of version control too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def folders(project: Path) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
    """Each as the beginning of its entries' relative paths, with the entries; none is a symlink."""
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            with os.scandir(project / prefix) as found:
                entries = list(found)
        except OSError:
            continue
        yield prefix, entries
        pending += [
            f"{prefix}{entry.name}/" for entry in entries if entry.is_dir(follow_symlinks=False)
        ]
