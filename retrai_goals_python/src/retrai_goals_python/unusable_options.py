"""Options of the goal `pytest` that no change of the project could make usable."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from .pytest_run import PytestRun

_NO_SUCH_TEST = re.compile(r"^ERROR: (not found: .+)\n\(no match in any of ", re.MULTILINE)
_NO_SUCH_ARGUMENT = re.compile(r"error: (unrecognized arguments: (.+))$", re.MULTILINE)


def missing_target(folder: Path, targets: Sequence[str], args: Sequence[str]) -> str | None:
    """Which target names nothing, in words for people; None when all may.

    Args:
        folder: where pytest runs.
        targets: files, folders or test ids.
        args: pytest's other arguments; with `--pyargs` a target may be a package.

    Example:
        >>> missing_target(Path("/"), ["tmp", "tmp::test_a"], [])
        >>> missing_target(Path("/"), ["nowhere/test_a.py::test_b"], [])
        'the option targets names nowhere/test_a.py, and / has no such file or folder'
    """
    if "--pyargs" in args:
        return None
    for target in targets:
        path = target.partition("::")[0]
        if not target.startswith(("-", "@")) and not (folder / path).exists():
            return f"the option targets names {path}, and {folder} has no such file or folder"
    return None


def refused_options(run: PytestRun, targets: Sequence[str], args: Sequence[str]) -> str | None:
    """Which of the goal's options pytest itself refused; None when it was none of them.

    What stands in the project's configuration, and a file that cannot be imported, a model may be
    able to mend.
    """
    if run.exit_status != 4:
        return None
    if targets and (found := _NO_SUCH_TEST.search(run.output_tail)):
        return f"the option targets: {found[1]}"
    if found := _NO_SUCH_ARGUMENT.search(run.output_tail):
        given = {word.partition("=")[0] for word in args}
        if any(word.partition("=")[0] in given for word in found[2].split()):
            return f"the option args: {found[1]}"
    return None
