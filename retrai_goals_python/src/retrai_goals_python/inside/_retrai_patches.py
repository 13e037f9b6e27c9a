"""Finds code of the project in the place of other people's: what it has patched, however written.

Nothing but the standard library is used, of Python 3.7 on.
"""

from __future__ import annotations

import ast
import functools
import os
import sys
import time
import types
from importlib.util import resolve_name
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple, cast

from _retrai_values import OwnFile

PASSED_OVER = ("__main__", "sys")
"""The streams and hooks of `sys` are there to be replaced."""

WRAPPERS: Dict[type, str] = {
    functools.partial: "func",
    property: "fget",
    classmethod: "__func__",
    staticmethod: "__func__",
    types.MethodType: "__func__",
}
PLAIN = (type(None), bool, int, float, str, bytes, tuple, list, dict, set, frozenset)

STANDARD = os.path.dirname(os.__file__) + os.sep
RUNNERS = ("_pytest", "pytest", "pluggy")
MAX_ITEMS = 300
"""So many entries of a table are looked at."""
MAX_S = 0.5
"""Seconds of processor time for all tests together; one look at 200 modules takes 0.01."""
SETTINGS = frozenset(
    {
        "logging.Formatter.converter",
        "logging.lastResort",
        "copyreg.dispatch_table",
        *("%s.adapters" % module for module in ("_sqlite3", "sqlite3", "sqlite3.dbapi2")),
        "threading._active",
        "threading._limbo",
        "threading.excepthook",
        "warnings.formatwarning",
        "warnings.showwarning",
        "xml.dom.domreg.registered",
    }
)
"""Attributes that Python's documentation tells its users to assign to or to register in, and
tables that fill themselves."""

Place = Tuple[str, int]
"""A file, and a line in it from 1."""


class Patches:
    """Looks through the modules that are loaded.

    Args:
        is_own: whether a file is the project's source.
        root: the folder that the tests run in; files are named from there.
    """

    def __init__(self, is_own: OwnFile, root: str) -> None:
        self._is_own, self._root = is_own, os.path.realpath(root)
        self._own_types: Dict[type, Optional[Place]] = {}
        self._imports: Dict[str, Dict[str, Tuple[str, str]]] = {}
        self._imported: Dict[Tuple[str, str], List[Any]] = {}
        self._found: Dict[str, Place] = {}
        self._left_s = MAX_S
        self._is_told = False

    def look(self, functions: Iterable[Tuple[str, Any]] = ()) -> None:
        """Note what is replaced now, as long as there is time.

        Args:
            functions: others that are not the project's, by name.
        """
        began = time.thread_time()
        if self._left_s > 0:
            self._found.update(self._all(functions))
        self._left_s -= time.thread_time() - began

    def take(self, functions: Iterable[Tuple[str, Any]]) -> List[Tuple[str, str, int]]:
        """Look once more; the dotted name of each attribute that was replaced since the last time,
        and the file and line of the code that it got.

        The first time there is time again, whatever the looks before have taken: what stood there
        from the start must be told then.
        """
        if not self._is_told:
            self._is_told, self._left_s = True, MAX_S
        self.look(functions)
        found, self._found = self._found, {}
        return [
            (name, os.path.relpath(os.path.realpath(file), self._root), line)
            for name, (file, line) in sorted(found.items())
            if name not in SETTINGS
        ]

    def _all(self, functions: Iterable[Tuple[str, Any]]) -> Iterator[Tuple[str, Place]]:
        for name, function in functions:
            place = self._code(function)
            if place is not None:
                yield name, place
        for name, module in list(sys.modules.items()):
            held = _held_by(module)
            if name not in PASSED_OVER and not self._is_own(_file_of(held)):
                for attribute, place in self._in_module(name, held):
                    yield "%s.%s" % (name, attribute), place

    def _in_module(self, module: str, held: Dict[str, Any]) -> Iterator[Tuple[str, Place]]:
        is_watched = self._is_watched(module, _file_of(held))
        for name, value in held.items():
            kind = cast("Any", type(value))
            if kind is dict and is_watched:
                for part in list(value.values())[:MAX_ITEMS]:
                    place = self._code(part) or self._kind(part)
                    if place is not None:
                        yield name, place
            if kind is types.ModuleType or kind in PLAIN:
                continue
            is_class = issubclass(kind, type)
            place = self._code(value) or self._kind(value)
            if place is not None:
                if not self._is_imported(name, held):
                    yield name, place
            elif not is_class or value.__module__ == module:  # else where it is defined
                for inner, part in _held_by(value).items():
                    place = self._code(part)
                    if place is None and is_class and is_watched:
                        place = self._kind(part)
                    if place is not None:
                        yield "%s.%s" % (name, inner), place

    def _is_watched(self, module: str, file: str) -> bool:
        """Whether a module is of the standard library or of the runner: nothing of the project
        belongs into its tables and classes."""
        if module.partition(".")[0] in RUNNERS or not file:
            return True
        return file.startswith(STANDARD) and "-packages" not in file

    def _is_imported(self, name: str, held: Dict[str, Any]) -> bool:
        """Whether the text of a module, a test say, takes this from the project's source, and both
        hold the same, or did: a test may load the source anew."""
        file = _file_of(held)
        if file not in self._imports:
            self._imports[file] = imports_of(file, str(held.get("__package__") or ""))
        module, original = self._imports[file].get(name, ("", ""))
        source = _held_by(sys.modules.get(module))
        known = self._imported.setdefault((file, name), [])
        if self._is_own(_file_of(source)) and source.get(original) is held[name]:
            known.append(held[name])
        return any(one is held[name] for one in known)

    def _code(self, value: Any) -> Optional[Place]:
        """Where a function of the project is written, also one within a method or a partial."""
        while cast("Any", type(value)) in WRAPPERS:
            value = getattr(value, WRAPPERS[cast("Any", type(value))])
        if type(value) is not types.FunctionType:
            return None
        code = value.__code__
        return (code.co_filename, code.co_firstlineno) if self._is_own(code.co_filename) else None

    def _kind(self, value: Any) -> Optional[Place]:
        """Where the class of an object is written, or a class itself."""
        kind = cast("Any", type(value))
        return self._type(value if issubclass(kind, type) else kind) if kind not in PLAIN else None

    def _type(self, kind: type) -> Optional[Place]:
        """Where a class of the project is written, also one that claims to be of another module."""
        if kind not in self._own_types:
            module = _held_by(sys.modules.get(kind.__module__))
            file, place = _file_of(module), None
            if self._is_own(file):
                place = (file, 1)
            elif module.get(kind.__qualname__) is not kind:
                places = map(self._code, _held_by(kind).values())
                place = next((one for one in places if one), None)
            self._own_types[kind] = place
        return self._own_types[kind]


def imports_of(file: str, package: str) -> Dict[str, Tuple[str, str]]:
    """The module that each name is imported from, and the name that it has there."""
    try:
        with open(file, "rb") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return {}
    found: Dict[str, Tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            try:
                module = resolve_name("." * node.level + (node.module or ""), package)
            except (ImportError, ValueError):
                continue
            names = [(each.name, each.asname or each.name) for each in node.names]
            if names[0][0] == "*":
                names = [(name, name) for name in _held_by(sys.modules.get(module))]
            found.update((name, (module, original)) for original, name in names)
    return found


def _held_by(value: Any) -> Dict[str, Any]:
    try:
        return dict(object.__getattribute__(value, "__dict__"))
    except Exception:  # noqa: BLE001 - any object's own code
        return {}


def _file_of(module: Dict[str, Any]) -> str:
    file = module.get("__file__")
    return file if isinstance(file, str) else ""
