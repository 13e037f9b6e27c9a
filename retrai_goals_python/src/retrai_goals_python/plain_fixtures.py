"""Uses of pytest that a package has which ships fixtures, and those that go beyond them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

_PLAIN = re.compile(
    r"^pytest\.(?:fixture|param|mark(?:\.\w+)?|raises|warns|deprecated_call|fail"
    r"|MonkeyPatch|FixtureRequest|TempPathFactory|TempdirFactory|CaptureFixture|LogCaptureFixture"
    r"|WarningsRecorder|Pytester|Config|Parser|Cache)$"
)
_OTHER_PART = re.compile(r"^(?:pytest\.|_pytest\b|pluggy\b)")
# What pytest hands to fixtures, and leads to the runner.
_HANDLES = ("request", "pytestconfig")
_CONFIG = r"(?:getoption|getini|rootpath|rootdir|invocation_params)"
_PLAIN_HANDLES = re.compile(
    r"^(?:request\.(?:param|param_index|fixturename|scope|addfinalizer|node\.get_closest_marker"
    rf"|config\.{_CONFIG})|pytestconfig\.{_CONFIG})$"
)
_INSIDE = frozenset(
    {
        *("_item", "_request", "_pyfuncitem", "pluginmanager", "runtest", "ihook"),
        *("__globals__", "__closure__", "__builtins__", "__wrapped__", "__code__"),
    }
)
_CAPTURES = ("capsys", "capfd", "capsysbinary", "capfdbinary")
_PATCHES = ("monkeypatch", "mocker")
_TEST_MODULE = re.compile(r"(?:^|\.)(?:tests?|conftest|test_\w+|\w+_test)(?:\.|$)")

Named = Callable[[ast.AST], str]
Folded = Callable[[ast.expr], object]


def plain_uses(tree: ast.Module, dotted: Named) -> set[int]:
    """The nodes, by `id`, that only declare fixtures or name pytest's types.

    Args:
        tree: a whole file.
        dotted: the full name of what an expression means; empty where nobody can say.
    """
    found: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                plain = not any(map(_OTHER_PART.match, (name.name for name in node.names)))
            case ast.ImportFrom(level=0):
                plain = all(_PLAIN.match(f"{node.module}.{name.name}") for name in node.names)
            case ast.Attribute() | ast.Name():
                written = isinstance(node.ctx, ast.Load) and _chain(node)
                plain = bool(written and _PLAIN.match(dotted(node)))
            case _:
                continue
        if plain:
            found.update(id(inner) for inner in ast.walk(node))
    return found


def beyond_fixtures(tree: ast.Module, folded: Folded) -> Iterator[ast.AST]:
    """Where a file that imports pytest takes more of the runner than a fixture needs.

    Hooks, the test and its module through `request`, what is private to pytest's own fixtures, and
    patches that no test asked for.

    Args:
        tree: the file.
        folded: the value of a constant expression.
    """
    allowed = set(_plain_handles(tree, folded))
    for node in ast.walk(tree):
        if id(node) in allowed:
            continue
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if _is_hook(node.name) or _patches_unasked(node):
                    yield node
            case ast.Name():
                hook = isinstance(node.ctx, ast.Store) and _is_hook(node.id)
                if hook or node.id in _HANDLES:
                    yield node
            case ast.Attribute():
                captured = node.attr == "request" and _name(node.value) in _CAPTURES
                if captured or node.attr in _INSIDE:
                    yield node
            case ast.Call():
                if _reaches(node, folded):
                    yield node
            case _:
                continue


def _plain_handles(tree: ast.Module, folded: Folded) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            if _PLAIN_HANDLES.match(_chain(node)):
                yield from (id(inner) for inner in ast.walk(node))
        elif isinstance(node, ast.Call) and _chain(node.func) == "request.getfixturevalue":
            wanted = folded(node.args[0]) if node.args else None
            if isinstance(wanted, str) and wanted not in (*_HANDLES, *_PATCHES):
                yield from (id(inner) for inner in ast.walk(node.func))


def _reaches(node: ast.Call, folded: Folded) -> bool:
    """Names that are looked up as texts, and patches of test modules."""
    name = _chain(node.func)
    texts = [text for text in map(folded, node.args[:2]) if isinstance(text, str)]
    if name in ("locals", "globals", "vars") and not node.args:
        return True
    if name in ("getattr", "setattr", "delattr", "hasattr"):
        return any(text in _INSIDE or _is_hook(text) for text in texts)
    patches = name.rpartition(".")[2] in ("setattr", "delattr", "setitem", "patch")
    return patches and any(map(_TEST_MODULE.search, texts[:1]))


def _patches_unasked(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A fixture that every test gets, and that may change what the tests see."""
    arguments = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    arguments += [each.arg for each in node.args.kwonlyargs]
    return any(each in (*_PATCHES, *_HANDLES) for each in arguments) and any(
        keyword.arg is None or (keyword.arg == "autouse" and not _is_false(keyword.value))
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call)
        for keyword in decorator.keywords
    )


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _is_hook(name: str) -> bool:
    return name.startswith("pytest_") and name != "pytest_plugins"


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _chain(node: ast.AST) -> str:
    """`a.b.c` as it is written; empty where something else stands in it."""
    if isinstance(node, ast.Attribute):
        owner = _chain(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return _name(node)
