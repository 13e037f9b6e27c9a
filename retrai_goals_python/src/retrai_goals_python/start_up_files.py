"""What Python runs at its start: `.pth` files, `sitecustomize`, `usercustomize`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from retrai_goal_support import text_of

from .installed import Installed, entries, files_below, is_as_recorded

CUSTOMIZE = ("sitecustomize", "usercustomize")
# What setuptools, hatchling and others write for an editable install.
_EDITABLE_LINE = re.compile(
    r"^import (?P<module>_+editable_\w+)(?:\s*;\s*(?P=module)\.(?:install|F)\S*.*)?$"
)


def named_folders(folders: Iterable[Path]) -> list[Path]:
    """Folders that `.pth` files put on the import path."""
    found: dict[Path, None] = {}
    for folder in folders:
        for path in _pth_files(folder):
            found.update((named, None) for named in _named_in(path) if named.is_dir())
    return list(found)


def only_names_folders(path: Path, is_known: Callable[[Path], bool]) -> bool:
    """Whether a `.pth` file runs no code and puts only known folders on the import path.

    `setup.py develop`, and pip with an old setuptools, write `easy-install.pth`, which stands in no
    RECORD.
    """
    return not any(map(_is_code, _lines(path))) and all(map(is_known, _named_in(path)))


def start_up_files(folders: Sequence[Path], installed: Mapping[str, Installed]) -> list[Path]:
    """Files that Python runs when it starts, but for those that an honest install brings.

    Such are a `.pth` file that only names folders, one that an index's distribution put there, and
    the finder of an editable install; in each case as the installer recorded it.
    """
    found: list[Path] = []
    for folder in folders:
        for entry in entries(folder):
            if entry.name.split(".", 1)[0] in CUSTOMIZE:
                path = Path(entry.path)
                found += map(Path, files_below(path)) if entry.is_dir() else [path]
        for path in _pth_files(folder):
            lines = [line for line in _lines(path) if _is_code(line)]
            if lines and not _is_recorded(path, lines, installed):
                found.append(path)
    return found


def _pth_files(folder: Path) -> list[Path]:
    return [Path(entry.path) for entry in entries(folder) if entry.name.endswith(".pth")]


def _named_in(path: Path) -> list[Path]:
    lines = [line for line in _lines(path) if not _is_code(line)]
    return [Path(os.path.normpath(path.parent / line)) for line in lines]


def _lines(path: Path) -> list[str]:
    lines = text_of(path).splitlines()
    return [line.strip() for line in lines if line.strip() and line[0] != "#"]


def _is_code(line: str) -> bool:
    return line.startswith(("import ", "import\t"))


def _is_recorded(path: Path, lines: Sequence[str], installed: Mapping[str, Installed]) -> bool:
    """An installer put the file there, from an index or as an editable install's own."""
    for one in installed.values():
        if one.site != path.parent or path.name not in one.text("RECORD"):
            continue
        record = one.record()
        if not is_as_recorded(path, record):
            continue
        if one.is_from_index:
            return True
        modules = [_EDITABLE_LINE.match(line) for line in lines]
        return all(
            found is not None and is_as_recorded(path.with_name(f"{found['module']}.py"), record)
            for found in modules
        )
    return False
