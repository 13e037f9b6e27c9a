"""Settings that turn out to have no effect during a run: each is reported once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from ..errors import nearest
from ..verification.globs import fixed_start
from ..verification.guard import Guard
from .session import RunSession

_NEAR_FILES = 1_000
"""Of so many protected files the nearest to a name is looked for."""


def useless_settings(session: RunSession) -> Iterator[str]:
    """Warnings of settings that mean no tool, and no file that the check is about."""
    resolved, offered = session.resolved, session.context.tools
    yield from resolved.rules_about_no_tool(offered)
    yield from resolved.patterns_of_no_tool({*offered, *session.left_out})
    if session.guard is not None:
        where = resolved.settings.origin("allow_edit")
        for line in _useless_edits(resolved.config.cwd, resolved.config.allow_edit, session.guard):
            yield f"{line}{where}"


def _useless_edits(project: Path, patterns: Iterable[str], guard: Guard) -> Iterator[str]:
    """Entries of `allow_edit` that mean no file that the check is about.

    One that names a test which is still to be written may mean something later, and so may a
    pattern, unless a folder of nearly its name is there instead.
    """
    protected = [*islice(guard.baseline.protected, _NEAR_FILES)]
    for pattern in patterns:
        path = pattern.removeprefix("/")
        start = fixed_start(path)
        if not start or start.startswith("!") or (project / path).is_dir():
            continue
        is_pattern = start != path or path.endswith("/")
        # Of a pattern, the folder that it begins in.
        is_there = (project / (os.path.dirname(start) if is_pattern else path)).exists()
        known = _folder_patterns(protected) if is_pattern else protected
        near = "" if is_there else nearest(path, known)
        if near if is_pattern else not (guard.belongs_to_check(path) or guard.steers(path)):
            yield f"allow_edit: `{pattern}` means no file that the check protects{near}"


def _folder_patterns(protected: Iterable[str]) -> list[str]:
    folders = {str(folder) for path in protected for folder in PurePosixPath(path).parents}
    return sorted(f"{folder}/**" for folder in folders - {"."})
