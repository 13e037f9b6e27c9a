"""Which test files that a run added can be taken away: others must not pass by what they do.

All files of mocha and bun share one process, and a file that patches a module there patches it for
every test.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

MAX_BYTES = 1_000_000
_RELATIVE = re.compile(r"""["'`](\.\.?/[^"'`\s]*|\.\.?)["'`]""")
_CODE = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte|json)$")
_NOT_OURS = frozenset({"node_modules", ".git", "coverage"})


def loaded_by_none(copy: Path, paths: Sequence[str]) -> list[str]:
    """Those of `paths` that no other file loads by its name, as a helper of tests is loaded.

    A file that stands before another of the same name (`same.js` before `same/index.js`) is not
    needed: the other is loaded without it.

    Args:
        copy: a copy of the project.
        paths: relative to it.
    """
    new = set(paths)
    loaded = _loaded_by_others(copy, new)
    return [
        path for path in paths if _stem(copy / path) not in loaded or _has_another(copy, path, new)
    ]


def _has_another(copy: Path, path: str, new: set[str]) -> bool:
    """Whether a file that is not new is loaded by the same name."""
    stem = _stem(copy / path)
    folder = os.path.dirname(stem)
    beside = [os.path.join(folder, each) for each in _listed(folder)]
    inside = [os.path.join(stem, each) for each in _listed(stem) if each.startswith("index.")]
    return any(
        _stem(Path(each)) == stem and os.path.relpath(each, copy) not in new
        for each in (*beside, *inside)
        if os.path.isfile(each) and _CODE.search(each)
    )


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _loaded_by_others(copy: Path, paths: set[str]) -> set[str]:
    """What the other files load by relative names, without endings."""
    found: set[str] = set()
    for base, folders, files in os.walk(copy):
        folders[:] = [name for name in folders if name not in _NOT_OURS]
        for name in files:
            path = os.path.join(base, name)
            if not _CODE.search(name) or os.path.relpath(path, copy) in paths:
                continue
            for relative in _RELATIVE.findall(_text(path)):
                found.add(_stem(Path(os.path.normpath(os.path.join(base, relative)))))
    return found


def _stem(path: Path) -> str:
    """The path by which a file is loaded, with or without its ending, or as a folder."""
    text = _CODE.sub("", str(path))
    return text.removesuffix("/index")


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(MAX_BYTES)
    except OSError:
        return ""
