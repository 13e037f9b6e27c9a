"""Helpers of tests that give a truth value: `assert same(a, b)` as the comparison in `same`."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..diff_audit import is_test
from ..python_source import last_name, parse_file, replace_nodes

Helpers = Mapping[str, tuple[Sequence[str], str]]
"""The parameters of each, and the comparison that it gives back."""


def comparing_helpers(root: Path, path: Path, tree: ast.Module) -> Helpers:
    """The functions of a file of tests, or of one that it imports from, which only compare.

    Args:
        root: the folder that the tests run in.
        path: the file.
        tree: what it holds.
    """
    found = dict(_comparing(tree))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            above = path.parents[node.level - 1 : node.level] if node.level else path.parents
            file = Path(*node.module.split(".")).with_suffix(".py")
            places = [each / file for each in above if each.is_relative_to(root)]
            there = next((each for each in places if each.is_file()), None)
            if there and is_test(str(there.relative_to(root))):
                known = dict(_comparing(parse_file(there)))
                names = [one for one in node.names if one.name in known]
                found |= {one.asname or one.name: known[one.name] for one in names}
    return found


def with_comparison(statement: ast.stmt, helpers: Helpers) -> ast.stmt:
    """An assertion that such a helper decides, with the comparison in the place of its call.

    Example:
        >>> tree = ast.parse("def same(a, b): return list(a) == list(b)")
        >>> helpers = comparing_helpers(Path("/p"), Path("/p/test_a.py"), tree)
        >>> asserted = ast.parse("assert same(f(), [1])").body[0]
        >>> ast.unparse(with_comparison(asserted, helpers))
        'assert list(f()) == list([1])'
    """
    match statement:
        case ast.Assert(test=ast.Call(func=ast.Name(id=name), args=given, keywords=[])):
            pass
        case ast.Expr(
            value=ast.Call(
                func=asserting, args=[ast.Call(func=ast.Name(id=name), args=given, keywords=[])]
            )
        ) if last_name(asserting) == "assertTrue":
            pass
        case _:
            return statement
    parameters, comparison = helpers.get(name, ((), ""))
    is_plain = not any(isinstance(each, ast.Starred) for each in given)
    if not comparison or not is_plain or len(given) != len(parameters):
        return statement
    arguments = dict(zip(parameters, given, strict=True))
    compared = ast.parse(comparison, mode="eval").body
    return ast.Assert(
        replace_nodes(compared, lambda n: arguments.get(n.id) if isinstance(n, ast.Name) else None)
    )


def _comparing(tree: ast.Module) -> Iterator[tuple[str, tuple[Sequence[str], str]]]:
    """Those that need nothing of their module, and use each argument once."""
    for helper in tree.body:
        match helper:
            case ast.FunctionDef(
                args=ast.arguments(args=takes, vararg=None, kwonlyargs=[], kwarg=None, defaults=[]),
                body=[*documented, ast.Return(value=ast.Compare(ops=[ast.Eq()]) as compared)],
                decorator_list=[],
            ) if len(documented) == (ast.get_docstring(helper, clean=False) is not None):
                parameters = [one.arg for one in takes]
                used = Counter(each.id for each in ast.walk(compared) if isinstance(each, ast.Name))
                once = all(used.pop(name, 0) == 1 for name in parameters)
                if once and all(hasattr(builtins, name) for name in used):
                    yield helper.name, (parameters, ast.unparse(compared))
            case _:
                pass
