"""Where a project's modules come from: loaded into its pytest when a clean copy is tested.

An editable install puts the original's folders on the import path, or a finder of its own that
knows them. Here both are led to the same places in the copy, and what is loaded from where is said.
Nothing but the standard library is used, of Python 3.7 on.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any, Dict, List, Sequence, Set, cast

MAX_FILES = 5000
_NOT_TOUCHED = ("_frozen_importlib", "_pytest", "importlib", "zipimport")


class Imports:
    """Leads imports from `original` to `copy`, where the copy has the same file or folder."""

    def __init__(self, original: str, copy: str) -> None:
        self.original = os.path.realpath(original)
        self.copy = os.path.realpath(copy)
        # An environment inside the project is no part of the copy.
        prefixes = map(os.path.realpath, (sys.prefix, sys.exec_prefix))
        self._environments = [one for one in prefixes if _inside(one, self.original)]

    def lead_to_copy(self, here: str, roots: Sequence[str]) -> None:
        """Change the import path, the finders and the packages that are there already.

        `roots` stood on the path behind `here`, for what is imported before this and by child
        processes; the copy's folders take the places that the original's had. Those that PYTHONPATH
        named stood there, and stay.
        """
        start = sys.path.index(here) + 1 if here in sys.path else 0
        path = [self.counterpart(entry) if entry else entry for entry in sys.path]
        end = start + len(roots)
        if path[start:end] == list(roots):
            path[start:end] = [root for root in roots if root not in path[end:]]
        sys.path[:] = path
        for index, finder in enumerate(sys.meta_path):
            owner = getattr(finder, "__module__", "") or type(finder).__module__
            if not str(owner).startswith(_NOT_TOUCHED):
                self._lead_namespaces(sys.modules.get(str(owner)))
                cast("List[Any]", sys.meta_path)[index] = Redirected(finder, self)
        for module in list(sys.modules.values()):
            self._lead_list(getattr(module, "__dict__", {}).get("__path__"))

    def counterpart(self, path: str) -> str:
        """The same place in the copy; the path itself where it is not the project's."""
        real = os.path.realpath(path)
        if not self._is_projects(real):
            return path
        mapped = self.copy + real[len(self.original) :]
        return mapped if os.path.exists(mapped) else path

    def redirect(self, name: str, spec: Any) -> Any:
        """What a finder found, in the copy."""
        folders: Any = getattr(spec, "submodule_search_locations", None)
        origin = getattr(spec, "origin", None)
        found = self.counterpart(origin) if isinstance(origin, str) else origin
        if found != origin:
            inner = None if folders is None else [self.counterpart(str(one)) for one in folders]
            return importlib.util.spec_from_file_location(
                name, found, submodule_search_locations=inner
            )
        self._lead_list(folders)
        return spec

    def loaded(self) -> List[str]:
        """Files of the modules that are loaded from the project or from its copy, sorted."""
        found: Set[str] = set()
        for module in list(sys.modules.values()):
            file = getattr(module, "__dict__", {}).get("__file__")
            if isinstance(file, str):
                real = os.path.realpath(file)
                if self._is_projects(real) or _inside(real, self.copy):
                    found.add(real)
        return sorted(found)[:MAX_FILES]

    def _is_projects(self, real: str) -> bool:
        return _inside(real, self.original) and not any(
            _inside(real, one) for one in self._environments
        )

    def _lead_list(self, folders: Any) -> None:
        """A package's folders; what is no list is left alone."""
        if isinstance(folders, list):
            names = cast("List[Any]", folders)
            names[:] = [self.counterpart(x) if isinstance(x, str) else x for x in names]

    def _lead_namespaces(self, module: Any) -> None:
        """setuptools keeps the folders of namespaces in a table beside its finder, and looks there
        by itself."""
        namespaces: Any = getattr(module, "NAMESPACES", None)
        if isinstance(namespaces, dict):
            for folders in cast("Dict[str, Any]", namespaces).values():
                self._lead_list(folders)


class Redirected:
    """A finder whose findings are led to the copy; all else is the finder's own."""

    def __init__(self, finder: Any, imports: Imports) -> None:
        self._finder = finder
        self._imports = imports

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return self._imports.redirect(name, self._finder.find_spec(name, path, target))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._finder, name)


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
