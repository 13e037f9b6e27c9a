"""Finds the folder of a plugin's package without running any of its code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from typing import NamedTuple
from zipimport import zipimporter

MANIFEST = "retrai.toml"


class PackageFolder(NamedTuple):
    """A package that holds plugins.

    Attributes:
        name: its dotted name; below a namespace package, the first part with an `__init__.py`.
        folder: the folder of its `__init__.py`; empty for a module that is a single file.
        origin: the file that an import would run.
    """

    name: str
    folder: str
    origin: str

    @property
    def manifest_path(self) -> str:
        """Where its manifest stands, should it have one; empty for a single file."""
        return os.path.join(self.folder, MANIFEST) if self.folder else ""


def find_package(module: str, paths: Sequence[str] | None = None) -> PackageFolder | None:
    """The package that `module` belongs to, or None where an import would find nothing.

    Args:
        module: the module that an entry point names.
        paths: the folders to look in; what an import would use when left out.
    """
    name = ""
    where: Sequence[str] | None = paths
    for part in module.split("."):
        name = f"{name}.{part}" if name else part
        spec = _find_spec(name, where)
        if spec is None:
            return None
        locations = spec.submodule_search_locations
        if spec.loader is not None:
            origin = _origin(spec)
            return PackageFolder(name, "" if locations is None else os.path.dirname(origin), origin)
        # A namespace package has no code of its own: look inside.
        where = list(locations or ())
    return None


def _origin(spec: ModuleSpec) -> str:
    if spec.origin is None and isinstance(spec.loader, zipimporter):
        return spec.loader.get_filename(spec.name)
    return spec.origin or ""


def _find_spec(name: str, where: Sequence[str] | None) -> ModuleSpec | None:
    # `importlib.util.find_spec` would import the parents of a dotted name and answer from
    # `sys.modules`; the finders themselves do neither.
    if where is not None:
        spec = PathFinder.find_spec(name, where)
        if spec is not None:
            return spec
    for finder in sys.meta_path:
        spec = finder.find_spec(name, where)
        if spec is not None:
            return spec
    return None
