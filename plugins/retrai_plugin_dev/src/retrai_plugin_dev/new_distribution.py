"""Writing a new plugin distribution from the templates in this package.

The templates are plain text with `string.Template` fields, one folder a kind beside the folder
`every`: no template engine has to be installed, and their suffix `.tmpl` keeps linters off them.
`PACKAGE` in a path is the import package, `dot_` a leading dot.
"""

from __future__ import annotations

import importlib.metadata
import re
import shutil
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from retrai_core import Kind, UsageError

from .template_fields import template_fields

_SUFFIX = ".tmpl"


@dataclass(frozen=True, slots=True)
class NewDistribution:
    """A plugin distribution that is not written yet.

    Attributes:
        kind: its plugin's kind.
        dist: its name (`retrai-word-count`).
        package: what it is imported as (`retrai_word_count`).
        files: text by path, relative to its folder.
    """

    kind: Kind
    dist: str
    package: str
    files: Mapping[str, str]

    def write(self, folder: Path) -> None:
        """Write every file into `folder`, which is made; nothing stays of a failed attempt.

        Raises:
            UsageError: the folder is not empty, is a file, or cannot be written.
        """
        existed = folder.is_dir()
        try:
            if folder.exists() and (not existed or any(folder.iterdir())):
                raise UsageError(f"{folder} is not an empty folder", hint="name another: --dir DIR")
            for name, text in self.files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
        except OSError as error:
            _take_back(folder, existed)
            raise UsageError(f"{folder} cannot be written: {error.strerror}") from error


def new_distribution(
    kind: str, name: str, author: str = "", *, dist: str = "", commands: Collection[str] = ()
) -> NewDistribution:
    """A complete distribution with one working plugin, its tests and its manifest.

    Args:
        kind: one of `template_fields.WITH_TEMPLATE`.
        name: the plugin's name, which users write.
        author: `Name` or `Name <address>`; nobody is named when left out.
        dist: the distribution's name; `retrai-` and the plugin's when left out.
        commands: names of commands, which no frontend can have.

    Raises:
        UsageError: the kind is unknown, or the name or the author cannot be used.
    """
    known, fields = template_fields(kind, name, author, dist=dist, commands=commands)
    dist, package = fields["dist"], fields["package"]
    if _is_installed(dist):
        raise UsageError(f"{dist} is installed already", hint="take another name")
    root = files("retrai_plugin_dev") / "templates"
    fields["usage"] = Template((root / known / "usage.md.tmpl").read_text("utf-8")).substitute(
        fields
    )
    templates = {**_templates(root / "every"), **_templates(root / known)}
    templates.pop("usage.md")
    rendered = {
        path.replace("PACKAGE", package): Template(text).substitute(fields)
        for path, text in sorted(templates.items())
    }
    return NewDistribution(known, dist, package, rendered)


def _is_installed(dist: str) -> bool:
    with suppress(importlib.metadata.PackageNotFoundError):
        importlib.metadata.distribution(dist)
        return True
    return False


def _templates(folder: Traversable, below: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in folder.iterdir():
        path = below + re.sub("^dot_", ".", entry.name)
        if entry.is_dir():
            found |= _templates(entry, f"{path}/")
        elif entry.name.endswith(_SUFFIX):
            found[path.removesuffix(_SUFFIX)] = entry.read_text("utf-8")
    return found


def _take_back(folder: Path, existed: bool) -> None:
    for path in folder.iterdir() if existed and folder.is_dir() else [folder]:
        shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            path.unlink()
