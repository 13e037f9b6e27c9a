"""Which paths of a project steer the goal's runner."""

from __future__ import annotations

import os
from pathlib import Path

from .globs import Globs


def steers(project: Path, path: str, is_link: bool, steering: Globs) -> bool:
    """Whether the file or symlink steers the runner.

    A symlink to a folder is one entry of the tree, and to the runner a folder with all that is in
    it: `pytest -> lib/mine` stands for `pytest/__init__.py`.
    """
    if steering.match(path):
        return True
    if not is_link:
        return False
    place = project / path
    if not place.is_dir():
        return False
    try:
        return any(steering.match(f"{path}/{name}") for name in os.listdir(place))
    except OSError:
        return False  # not readable by us, and so not by the runner
