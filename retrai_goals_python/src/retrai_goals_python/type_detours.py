"""Detours around a type checker, undone: what they hide is an error still.

`cast(Order, found).note` is `found.note` for a running program, and so are
`getattr(found, "note")`, `vars(found)["note"]` and `attrgetter("note")(found)`; `found: Any = f()`
is `found = f()`. They correct nothing. Detours that stood there when the run began stay.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator

from .python_source import Function, definitions, last_name, parse, replace_nodes

HINT = (
    "A cast, `getattr`, `vars` or `Any` in their place corrects none of them. "
    "Check the value (`is None`, `isinstance`), or correct its type where it is declared."
)
_Code = ast.stmt | ast.expr
_ATTRIBUTE_OF = re.compile(r'for class "(?:type\[)?(\w+)|attribute of (?:"None"|(module))')
_UNKNOWN = re.compile(r'"object[*"]|@|\b(?:Unknown|Any)\b')
"""Types of which a checker cannot know better, and type variables."""


def without_detours(before: str, now: str) -> str:
    """The text of a file with its new detours undone, on the same lines; empty where it has none.

    Args:
        before, now: the file when the run began, and now.

    Example:
        >>> without_detours("", 'a = cast(\\n  str, b)\\nc = getattr(d.e, "f")\\ng: Any = 1')
        'a = (b\\n)\\nc = (d.e.f)\\ng = 1'
    """
    known = Counter(ast.unparse(node) for node, _ in _detours(before))
    lines = now.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()) + 1)
    data = now.encode()
    for node, plain in sorted(_detours(now), key=lambda each: _span(each[0]), reverse=True):
        text = ast.unparse(node)
        known[text] -= 1
        if known[text] >= 0:
            continue
        first, column, last, end = _span(node)
        new = ast.unparse(plain) + "\n" * (last - first)
        new = f"({new})" if isinstance(plain, ast.expr) else new
        data = data[: starts[first - 1] + column] + new.encode() + data[starts[last - 1] + end :]
    return "" if data == now.encode() else data.decode()


def is_hidden(message: str, classes: Collection[str]) -> bool:
    """Whether an error that shows without detours is one for certain.

    Args:
        message: what the type checker says.
        classes: those of the project. What others have may be known to people alone.

    Example:
        >>> is_hidden('Cannot access attribute "x" for class "Order*"', ["Order"])
        True
        >>> is_hidden('"_MEIPASS" is not a known attribute of module "sys"', ["Order"])
        False
    """
    if '"None"' in message:
        return True
    if found := _ATTRIBUTE_OF.search(message):
        return found[1] in classes
    return not _UNKNOWN.search(message)


def _span(node: _Code) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def _detours(text: str) -> Iterator[tuple[_Code, _Code]]:
    """The outermost detours, each with what it stands for."""
    # Decorators cast the function that they give back, and classes that are mixed in themselves.
    usual = {"self", *(each.name for each in definitions(text) if isinstance(each, Function))}

    def straight(node: ast.AST) -> ast.expr | None:
        plain = _straight(node)
        if plain is None or (isinstance(plain, ast.Name) and plain.id in usual):
            return None
        return replace_nodes(plain, straight)

    def search(node: ast.AST, *, in_class: bool) -> Iterator[tuple[_Code, _Code]]:
        match node:
            case ast.AnnAssign(target=target, annotation=said, value=ast.expr() as value) if (
                last_name(said) == "Any" and not in_class
            ):
                yield node, ast.Assign([target], replace_nodes(value, straight), lineno=0)
                return
            case ast.expr() if plain := straight(node):
                yield node, plain
                return
            case _:
                pass
        for each in ast.iter_child_nodes(node):
            yield from search(each, in_class=isinstance(node, ast.ClassDef))

    return search(parse(text), in_class=False)


def _straight(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.Call(func=function, args=[_, value], keywords=[]) if last_name(function) == "cast":
            return value
        case (
            ast.Call(
                func=ast.Name(id="getattr"),
                args=[value, ast.Constant(value=str(name))],
                keywords=[],
            )
            | ast.Subscript(
                value=ast.Call(func=ast.Name(id="vars"), args=[value])
                | ast.Attribute(value=value, attr="__dict__"),
                slice=ast.Constant(value=str(name)),
            )
        ):
            return ast.Attribute(value, name) if name.isidentifier() else None
        case ast.Call(
            func=ast.Call(args=[ast.Constant(value=str(name))], keywords=[]) as getter,
            args=[value],
            keywords=[],
        ) if last_name(getter) == "attrgetter" and name.replace(".", "_").isidentifier():
            for part in name.split("."):
                value = ast.Attribute(value, part)
            return value
        case _:
            return None
