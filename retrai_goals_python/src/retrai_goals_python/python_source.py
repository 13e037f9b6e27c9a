"""A project's files as text and as syntax trees; empty ones where they cannot be read or parsed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar, cast

NOT_PARSED = (SyntaxError, ValueError, RecursionError, MemoryError)
"""Raised for what is no Python, or is nested too deep."""
NodeT = TypeVar("NodeT", bound=ast.AST)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Try = ast.Try | ast.TryStar
Definition = Function | ast.ClassDef


def read_bytes(path: Path) -> bytes:
    """A regular file's bytes; none where there is none to read."""
    try:
        return path.read_bytes() if path.is_file() else b""
    except (OSError, ValueError):
        return b""


def read_files(paths: Iterable[Path]) -> dict[Path, bytes]:
    """The bytes of those files that are there."""
    return {path: path.read_bytes() for path in paths if path.is_file()}


def write_files(files: Mapping[Path, bytes]) -> None:
    """Write files as `read_files` gave them."""
    for path, data in files.items():
        path.write_bytes(data)


def parse(source: str | bytes) -> ast.Module:
    """A module's tree; an empty one where the source is no Python.

    Example:
        >>> parse("def (").body
        []
    """
    try:
        return ast.parse(source)
    except NOT_PARSED:
        return ast.Module([], [])


def parse_file(path: Path) -> ast.Module:
    """The tree of a file, in the encoding that the file names; an empty one for a missing file."""
    return parse(read_bytes(path))


def definitions(source: str) -> Iterator[Definition]:
    """The functions and classes of a module, and those within them."""
    return (node for node in ast.walk(parse(source)) if isinstance(node, Definition))


def arguments_of(function: Function) -> list[tuple[ast.arg, ast.expr | None]]:
    """The arguments of a function, each with its default."""
    args = function.args
    plain = [*args.posonlyargs, *args.args]
    missing = [None] * (len(plain) - len(args.defaults))
    return [
        *zip(plain, [*missing, *args.defaults], strict=True),
        *zip(args.kwonlyargs, args.kw_defaults, strict=True),
    ]


def imported(tree: ast.Module) -> set[str]:
    """The outermost names of the modules that a module imports.

    Example:
        >>> sorted(imported(parse("import os.path, re\\nfrom json import loads")))
        ['json', 'os', 're']
    """
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return {name.partition(".")[0] for name in names}


def replace_nodes(tree: NodeT, other: Callable[[ast.AST], ast.AST | None]) -> NodeT:
    """A tree with other nodes in the place of some; neither is looked at from inside.

    Args:
        tree: the tree, which is changed.
        other: what takes the place of a node; None for those that stay.

    Example:
        >>> other = lambda node: ast.Constant(1) if isinstance(node, ast.Name) else None
        >>> ast.unparse(replace_nodes(parse("f(a)"), other))
        '1(1)'
    """
    return cast("NodeT", _Replacement(other).visit(tree))


class _Replacement(ast.NodeTransformer):
    def __init__(self, other: Callable[[ast.AST], ast.AST | None]) -> None:
        self._other = other

    def visit(self, node: ast.AST) -> ast.AST:
        return self._other(node) or super().visit(node)


def last_name(node: ast.expr) -> str:
    """The last word of a dotted name, or of the function that is called; else empty.

    Example:
        >>> [last_name(parse(text).body[0].value) for text in ("a.b.c", "f(1)", "1 + 1")]
        ['c', 'f', '']
    """
    if isinstance(node, ast.Call):
        return last_name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def literal(node: ast.expr | str) -> object:
    """The value of a literal.

    Raises:
        ValueError: it is none.
    """
    try:
        return ast.literal_eval(node)
    except (*NOT_PARSED, TypeError) as error:
        raise ValueError(str(node)) from error


def is_literal(text: str) -> bool:
    """Whether a text is a literal, and nothing else."""
    try:
        literal(text)
    except ValueError:
        return False
    return True
