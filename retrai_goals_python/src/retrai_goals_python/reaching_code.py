"""Finds what in a Python file reaches for pytest, the interpreter or its callers, however spelled.

Names are followed through imports, aliases, `getattr` and texts that are put together. What many
programs do for good reasons (`sys.modules[__name__]`, `getattr(sys, "frozen", False)`) is none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .folded import Folder
from .plain_fixtures import beyond_fixtures, plain_uses

PYTEST = "reaches into pytest"
PATCHES = "changes pytest"
MODULES = "touches sys.modules"
CALLERS = "inspects its callers"
OBJECTS = "looks through live objects"
HOOKS = "hooks into the interpreter"
BUILT_IN = "changes a built-in"
JUDGES = "changes what judges the tests"
ASKS = "asks whether tests run"
PUT_TOGETHER = "reaches for a name that it puts together"

_RUNNERS = ("_pytest", "pytest", "pluggy")
_NAMED: Mapping[str, str] = {
    **dict.fromkeys(
        [
            "sys._getframe",
            "sys._getframemodulename",
            "sys._current_frames",
            "sys._current_exceptions",
            "inspect.currentframe",
            "inspect.stack",
            "inspect.trace",
            "inspect.getouterframes",
            "inspect.getinnerframes",
            "traceback.walk_stack",
            "traceback.extract_stack",
            "traceback.format_stack",
        ],
        CALLERS,
    ),
    **dict.fromkeys(
        ["gc.get_objects", "gc.get_referrers", "gc.get_referents", "ctypes.pythonapi"], OBJECTS
    ),
    **dict.fromkeys(
        [
            "sys.settrace",
            "sys.setprofile",
            "sys.monitoring",
            "sys.meta_path",
            "sys.path_hooks",
            "sys.addaudithook",
            "threading.settrace",
            "threading.setprofile",
        ],
        HOOKS,
    ),
}
_FRAME = frozenset(
    {
        *("tb_frame", "gi_frame", "cr_frame", "ag_frame"),
        *("f_back", "f_globals", "f_locals", "f_builtins", "f_code"),
    }
)
# What assertions rest on; a program that replaces a part of it changes the answers of tests.
_JUDGING = ("unittest", "doctest", "hypothesis", "operator", "math", "builtins")
_PROFILES = re.compile(r"^hypothesis\.settings\.(?:load_profile|register_profile)$")
_CLOSED = ("sys", "gc", "inspect", "unittest", "unittest.case")
_TEST_MODULE = re.compile(r"(?:^|\.)(?:tests?|conftest|test_\w+|\w+_test)(?:\.|$)")
_ASKING = re.compile(r"PYTEST_|^_?(?:py\.?test|unittest)(?:\.|$)|_retrai|RETRAI_|/proc/(?:self|\d)")
_GETS = ("get", "pop", "setdefault")
_WRITES = ("setattr", "delattr")
_OWN_MODULE = ("__name__", "__package__", "__module__")


@dataclass(frozen=True, slots=True)
class Reach:
    """One place that reaches for more than a program needs: the line from 1, and what it does."""

    line: int
    what: str


def reaching(text: str | bytes, *, fixtures: bool = False) -> list[Reach] | None:
    """What reaches for the runner in a file, by line; None where the file is no Python.

    Args:
        text: the file's.
        fixtures: count the plain fixtures that a package may ship, too.

    Example:
        >>> reaching("import sys as s\\ngetattr(s, 'mod' + 'ules').clear()\\n")
        [Reach(line=2, what='touches sys.modules')]
        >>> reaching("import sys\\nhere = sys.modules[__name__]\\n")
        []
        >>> reaching("import pytest\\n@pytest.fixture\\ndef shop(): return 1\\n")
        []
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = _Reader(tree).read(fixtures)
    return sorted(dict.fromkeys(found), key=lambda reach: (reach.line, reach.what))


class _Reader:
    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._folder = Folder(tree)
        self._aliases: dict[str, str] = {"__builtins__": "builtins"}
        # Aliases of aliases: a second look resolves what the first one has found.
        for _ in range(3):
            for node in ast.walk(tree):
                self._learn(node)

    def read(self, fixtures: bool) -> Iterator[Reach]:
        harmless = self._harmless()
        if not fixtures:
            harmless |= plain_uses(self._tree, self._dotted)
        if any(map(_is_runner, self._aliases.values())):
            for node in beyond_fixtures(self._tree, self._folder.fold):
                yield Reach(getattr(node, "lineno", 0), PYTEST)
        for node in ast.walk(self._tree):
            if id(node) in harmless:
                continue
            line = getattr(node, "lineno", 0)
            for what in self._of(node):
                yield Reach(line, what)

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for name in node.names:
                top = name.name if name.asname else name.name.split(".")[0]
                self._aliases[name.asname or top] = top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for name in node.names:
                self._aliases[name.asname or name.name] = f"{node.module}.{name.name}"
        elif isinstance(node, (ast.Assign, ast.NamedExpr)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            dotted = self._dotted(node.value)
            for target in targets:
                if isinstance(target, ast.Name) and dotted and target.id != dotted:
                    self._aliases.setdefault(target.id, dotted)

    def _harmless(self) -> set[int]:
        """Docstrings, and uses of `sys.modules` that ask for one plain name or for their own."""
        prose = (node.value for node in ast.walk(self._tree) if isinstance(node, ast.Expr))
        found = {id(value) for value in prose if isinstance(value, ast.Constant)}
        for node in ast.walk(self._tree):
            owner, key = _lookup(node)
            if owner is None or key is None or self._dotted(owner) != "sys.modules":
                continue
            folded = self._folder.fold(key)
            named = getattr(key, "id", getattr(key, "attr", ""))
            plain = isinstance(folded, str) and not _judges(folded)
            if plain or named in _OWN_MODULE:
                found.update(id(inner) for inner in ast.walk(owner))
        return found

    def _of(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Import():
                yield from (PYTEST for name in node.names if _is_runner(name.name))
            case ast.ImportFrom():
                if node.module and not node.level:
                    yield from self._named(node)
            case ast.Name() | ast.Attribute() | ast.Subscript() | ast.Call():
                yield from self._of_expression(node)
            case ast.BinOp() | ast.JoinedStr():
                yield from self._of_text(node)
            case ast.Constant(value=str(text)) if _ASKING.search(text):
                yield ASKS
            case _:
                return

    def _named(self, node: ast.ImportFrom) -> Iterator[str]:
        if _is_runner(node.module or ""):
            yield PYTEST
        for name in node.names:
            what = _NAMED.get(f"{node.module}.{name.name}")
            if what:
                yield what
            if f"{node.module}.{name.name}" == "sys.modules":
                yield MODULES

    def _of_expression(self, node: ast.expr) -> Iterator[str]:
        dotted = self._dotted(node)
        if dotted:
            if dotted == "sys.modules" and not isinstance(node, ast.Name):
                yield MODULES
            if _is_runner(dotted) and not isinstance(node, ast.Attribute):
                yield PYTEST
            if dotted in _NAMED and not isinstance(node, ast.Name):
                yield _NAMED[dotted]
            if _PROFILES.match(dotted):
                yield JUDGES
        if isinstance(node, ast.Attribute) and node.attr in _FRAME:
            yield CALLERS
        writes = isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
        if writes and isinstance(node, (ast.Attribute, ast.Subscript)):
            yield from self._of_write(dotted or f"{self._dotted(node.value)}.?")
        if isinstance(node, ast.Call):
            yield from self._of_call(node)

    def _of_write(self, dotted: str) -> Iterator[str]:
        top = dotted.split(".", 1)[0]
        if top == "builtins":
            yield BUILT_IN
        elif top in _JUDGING:
            yield JUDGES
        elif top in _RUNNERS:
            yield PATCHES

    def _of_call(self, node: ast.Call) -> Iterator[str]:
        name = self._dotted(node.func).rpartition(".")[2] or getattr(node.func, "id", "")
        owner = self._dotted(node.args[0]) if node.args else ""
        known = self._folder.fold(node.args[1]) if len(node.args) > 1 else None
        if name in _WRITES and owner:
            yield from self._of_write(f"{owner}.?")
        if getattr(node.func, "attr", "") in _WRITES and _is_runner(owner):
            yield PATCHES  # as `monkeypatch` has them
        if name == "getattr" and isinstance(known, str) and known in _FRAME:
            yield CALLERS
        if name in ("getattr", "vars", "dir") and owner in _CLOSED and not isinstance(known, str):
            yield PUT_TOGETHER
        if name in ("exec", "eval", "compile") and node.args:
            text = self._folder.fold(node.args[0])
            if isinstance(text, (str, bytes)):
                yield from (reach.what for reach in reaching(text) or ())
        if name in ("patch", "patch_object") and node.args:
            target = self._folder.fold(node.args[0])
            if isinstance(target, str) and target.split(".", 1)[0] in (*_JUDGING, *_RUNNERS):
                yield JUDGES

    def _of_text(self, node: ast.expr) -> Iterator[str]:
        """A text that stands nowhere as such."""
        text = self._folder.fold(node)
        if isinstance(text, str) and (_ASKING.search(text) or _TEST_MODULE.fullmatch(text)):
            yield ASKS

    def _dotted(self, node: ast.AST | None) -> str:
        """The full name of what an expression means; empty where nobody can say."""
        match node:
            case ast.Name():
                return self._aliases.get(node.id, "")
            case ast.Attribute():
                owner = self._dotted(node.value)
                if node.attr == "__dict__":
                    return owner
                return f"{owner}.{node.attr}" if owner else ""
            case ast.Subscript():
                return self._looked_up(node)
            case ast.Call():
                return self._called(node)
            case _:
                return ""

    def _looked_up(self, node: ast.Subscript) -> str:
        key = self._folder.fold(node.slice)
        if not isinstance(key, str):
            return ""
        if isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "globals":
            return self._aliases.get(key, "")
        return self._in(self._dotted(node.value), key)

    def _called(self, node: ast.Call) -> str:
        name = self._dotted(node.func).rpartition(".")[2] or getattr(node.func, "id", "")
        if not node.args:
            return ""
        first = self._folder.fold(node.args[0])
        if name == "__import__" and isinstance(first, str):
            return first if len(node.args) > 3 else first.split(".")[0]
        if name == "import_module" and isinstance(first, str):
            return first
        if name == "vars":
            return self._dotted(node.args[0])
        if name == "getattr" and len(node.args) > 1:
            key = self._folder.fold(node.args[1])
            owner = self._dotted(node.args[0])
            return f"{owner}.{key}" if owner and isinstance(key, str) else ""
        if isinstance(node.func, ast.Attribute) and node.func.attr in _GETS:
            return self._in(self._dotted(node.func.value), first) if isinstance(first, str) else ""
        return ""

    def _in(self, owner: str, key: str) -> str:
        if owner == "sys.modules":
            return key
        return f"{owner}.{key}" if owner else ""


def _lookup(node: ast.AST) -> tuple[ast.expr | None, ast.expr | None]:
    """What is looked up in what: `x[key]`, `x.get(key)`, `key in x`."""
    if isinstance(node, ast.Subscript):
        return node.value, node.slice
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        found = node.func.attr in _GETS and node.args
        return (node.func.value, node.args[0]) if found else (None, None)
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return node.comparators[0], node.left
    return None, None


def _is_runner(dotted: str) -> bool:
    return dotted.split(".", 1)[0] in _RUNNERS


def _judges(module: str) -> bool:
    """A module that judges tests, or is one."""
    return _is_runner(module) or bool(_TEST_MODULE.search(module) or _ASKING.search(module))
