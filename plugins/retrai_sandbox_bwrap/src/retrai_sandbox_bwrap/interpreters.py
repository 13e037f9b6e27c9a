"""The folders that a Python interpreter needs: its environment, its base, editable sources."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ValidationError

from .places import within

_LINKS = 20
"""Symlinks followed from an interpreter's name to its file, at most."""


def interpreter_folders(python: str, untrusted: Sequence[Path] = ()) -> Iterator[Path]:
    """The environment of `python`, and every installation that its symlinks lead through.

    Args:
        python: an absolute path; of a bare name there is nothing.
        untrusted: folders whose links and settings lead no further: commands can write there, and
            would have any folder shown to them.
    """
    if not os.path.isabs(python):
        return
    place = Path(python)
    for _ in range(_LINKS):
        if any(within(place, folder) for folder in untrusted):
            return
        yield program_folder(place.parent)
        yield from _named_home(place.parent.parent / "pyvenv.cfg")
        try:
            target = os.readlink(place)
        except OSError:
            break
        place = Path(os.path.normpath(place.parent / target))
    yield program_folder(Path(os.path.realpath(python)).parent)


def interpreter_files(python: str) -> Iterator[Path]:
    """Of those folders, what every start needs, and the packages that are installed there."""
    for folder in interpreter_folders(python):
        yield folder
        for pattern in ("pyvenv.cfg", "bin", "bin/python*", "lib", "lib/python*"):
            yield from folder.glob(pattern)
        yield from folder.glob("lib/python*/site-packages")
        yield from folder.glob("lib/python*/site-packages/*")


def program_folder(folder: Path) -> Path:
    """The installation that a folder of programs belongs to: the one above `bin`, when it has
    more than programs."""
    above = folder.parent
    if folder.name in ("bin", "sbin", "shims") and any(
        os.path.exists(above / name)
        for name in ("lib", "lib64", "libexec", "pyvenv.cfg", "versions")
    ):
        return above
    return folder


def _named_home(config: Path) -> Iterator[Path]:
    """`home` in a pyvenv.cfg: where the base's interpreter lies."""
    try:
        lines = config.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        name, _, value = line.partition("=")
        place = Path(value.strip())
        # Only where an interpreter lies: the file may be a command's work, of an earlier run.
        if name.strip() == "home" and place.is_absolute() and any(place.glob("py*3*")):
            yield program_folder(place)
            yield program_folder(Path(os.path.realpath(place)))


class _Directory(BaseModel):
    editable: bool = False


class _DirectUrl(BaseModel):
    """https://packaging.python.org/en/latest/specifications/direct-url/"""

    url: str = ""
    dir_info: _Directory = _Directory()


def editable_sources(python: str, project: Path) -> Iterator[Path]:
    """Folders outside an environment that its packages are imported from.

    Of an environment within `project`, where commands can write, only folders of Python projects.
    """
    mine = within(Path(python), project)
    for path in _sources(python):
        if not mine or any((at / mark).exists() for at in (path, path.parent) for mark in _MARKS):
            yield path


_MARKS = ("pyproject.toml", "setup.py", "setup.cfg")


def _sources(python: str) -> Iterator[Path]:
    for packages in Path(python).parent.parent.glob("lib*/python*/site-packages"):
        for path in packages.glob("*.pth"):
            yield from _lines_of(path)
        for path in packages.glob("*.dist-info/direct_url.json"):
            try:
                found = _DirectUrl.model_validate(json.loads(path.read_bytes()))
            except (OSError, ValueError, ValidationError):
                continue
            if found.dir_info.editable and found.url.startswith("file:"):
                yield Path(unquote(urlsplit(found.url).path))


def _lines_of(path: Path) -> Iterator[Path]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        # Other lines are code (`import ...`) or stand for folders of the environment itself.
        if os.path.isabs(line.strip()):
            yield Path(line.strip())
