"""Options of the goal `pytest` that no change of the project could make usable."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from retrai_goal_support import text_of

from .run import PytestRun

USAGE_ERROR = 4
"""pytest's exit status for what it was told on its command line."""
_NO_SUCH_FILE = re.compile(
    r"^ERROR: ((?:file or directory|module or package) not found: .+)$", re.MULTILINE
)
_NO_SUCH_TEST = re.compile(r"^ERROR: not found: .+\n\(no match in any of ", re.MULTILINE)


def unusable_target(run: PytestRun, folder: Path, targets: Sequence[str]) -> str | None:
    """Which target names nothing, in words for people; None when all may mean something yet.

    Args:
        run: what pytest did with them.
        folder: where it ran.
        targets: files, folders or test ids.
    """
    if run.exit_status != USAGE_ERROR or not targets:
        return None
    if found := _NO_SUCH_FILE.search(run.output_tail):
        return f"the option targets: {found[1]}"
    if not _NO_SUCH_TEST.search(run.output_tail):
        return None
    missing = next((target for target in targets if not _may_come(folder, target)), None)
    return None if missing is None else f"the option targets: there is no test {missing}"


def _may_come(folder: Path, target: str) -> bool:
    """Whether a change of the sources may bring a test into being: its names stand in its file.

    Which parameters a test has, and whether it is defined at all, may depend on them.
    """
    path, *names = target.partition("[")[0].split("::")
    if not (folder / path).is_file():
        return True  # a folder, or a package
    text = text_of(folder / path)
    return all(re.search(rf"\b{re.escape(name)}\b", text) for name in names)
