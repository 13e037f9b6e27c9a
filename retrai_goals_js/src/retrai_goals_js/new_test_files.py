"""Which test files that a run added can be taken away: others must not pass by what they do.

All files of mocha and bun share one process, and a file that patches a module there patches it for
every test.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from retrai_goal_support import text_of

MAX_CHARS = 1_000_000
_RELATIVE = re.compile(r"""["'`](\.\.?/[^"'`\s]*|\.\.?)["'`]""")
_CODE = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte|json)$")
_NOT_OURS = frozenset({"node_modules", ".git", "coverage"})


def loaded_by_none(copy: Path, paths: Sequence[str]) -> list[str]:
    """Those of `paths` that no other file loads by its name, as a helper of tests is loaded.

    Args:
        copy: a copy of the project.
        paths: relative to it.
    """
    loaded = _loaded_by_others(copy, set(paths))
    return [path for path in paths if _stem(copy / path) not in loaded]


def _loaded_by_others(copy: Path, paths: set[str]) -> set[str]:
    """What the other files load by relative names, without endings."""
    found: set[str] = set()
    for base, folders, files in os.walk(copy):
        folders[:] = [name for name in folders if name not in _NOT_OURS]
        for name in files:
            path = os.path.join(base, name)
            if not _CODE.search(name) or os.path.relpath(path, copy) in paths:
                continue
            for relative in _RELATIVE.findall(text_of(Path(path), MAX_CHARS)):
                found.add(_stem(Path(os.path.normpath(os.path.join(base, relative)))))
    return found


def _stem(path: Path) -> str:
    """The path by which a file is loaded, with or without its ending, or as a folder."""
    text = _CODE.sub("", str(path))
    return text.removesuffix("/index")
