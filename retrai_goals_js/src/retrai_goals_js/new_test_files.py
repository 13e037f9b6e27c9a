"""Which test files that a run added can be taken away: others must not pass by what they do.

All files of mocha and bun share one process, and a file that patches a module there patches it for
every test.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from retrai_goal_support import project_files, text_of

MAX_CHARS = 1_000_000
_RELATIVE = re.compile(r"""["'`](\.\.?/[^"'`\s]*|\.\.?)["'`]""")
_CODE = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte|json)$")


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
    names = (name for name in project_files(copy) if _CODE.search(name) and name not in paths)
    return {
        _stem(Path(os.path.normpath((copy / name).parent / relative)))
        for name in names
        for relative in _RELATIVE.findall(text_of(copy / name, MAX_CHARS))
    }


def _stem(path: Path) -> str:
    """The path by which a file is loaded, with or without its ending, or as a folder."""
    return _CODE.sub("", str(path)).removesuffix("/index")
