"""The functions behind overloads, with the types that each overload promises.

pyright believes an overload, and looks at the function only with the function's own types.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from copy import deepcopy

from ..python_source import Function, arguments_of, last_name, replace_nodes

_NAME = "promised_by_overload_"
_ADDED = re.compile(rf"(?:async )?def {_NAME}(\d+)")


def functions_of_overloads(before: ast.Module, now: ast.Module) -> Iterator[Function]:
    """For each new overload its function with the types that the overload promises.

    Args:
        before, now: the module when the run began, and now.
    """
    known = {ast.unparse(each) for each, *_ in _overloads(before)}
    for overload, function, owner in _overloads(now):
        if ast.unparse(overload) in known or not _can_be_checked(overload, function):
            continue
        said = {arg.arg: arg.annotation for arg, _ in arguments_of(overload)}
        new = replace_nodes(deepcopy(function), _as_statement)
        new.name = f"{_NAME}{overload.lineno}"
        new.decorator_list, new.returns = [], overload.returns
        for number, (arg, default) in enumerate(arguments_of(new)):
            if owner and number == 0:
                arg.annotation = ast.Constant(owner)
            elif arg.arg in said:
                arg.annotation = said[arg.arg]
            elif default:  # None: nothing else can be checked
                arg.annotation = default
        yield new


def _can_be_checked(overload: Function, function: Function) -> bool:
    """Whether what a function gives can be held against an overload: the function has code, and no
    condition in it may depend on a literal, or on the default of what the overload leaves out."""
    if type(overload) is not type(function) or function.name in ("__get__", "__new__"):
        return False
    if "overload" in map(last_name, function.decorator_list):
        return False  # a protocol, or a stub
    types = {arg.arg: arg.annotation for arg, _ in arguments_of(overload)}
    if any("Literal" in ast.unparse(each) for each in types.values() if each):
        return False
    left_out = (default for arg, default in arguments_of(function) if arg.arg not in types)
    return all(
        default is None or (isinstance(default, ast.Constant) and default.value is None)
        for default in left_out
    )


def _as_statement(node: ast.AST) -> ast.stmt | None:
    """For `return a if b else c` an `if`, of which pyright leaves out what is never reached."""
    match node:
        case ast.Return(value=ast.IfExp(test=test, body=body, orelse=other)):
            one, two = ast.Return(body), ast.Return(other)
            return ast.If(test, [_as_statement(one) or one], [_as_statement(two) or two])
        case _:
            return None


def _overloads(tree: ast.Module) -> Iterator[tuple[Function, Function, str]]:
    """The overloads of a module and its classes, each with its function, and the class of a plain
    method."""
    classes = [each for each in tree.body if isinstance(each, ast.ClassDef)]
    for body, owner in ((tree.body, ""), *((each.body, each.name) for each in classes)):
        functions = [each for each in body if isinstance(each, Function)]
        last = {each.name: each for each in functions}
        for each in functions:
            decorators = {last_name(one) for one in each.decorator_list}
            if "overload" in decorators:
                yield each, last[each.name], owner if decorators == {"overload"} else ""


def only_gives_back(text: str, line: int) -> bool:
    """Whether the function at a line does nothing but give one of its parameters back, so that no
    condition in it tells the overloads apart.

    Args:
        text: of a file.
        line: in it, from 0.

    Example:
        >>> only_gives_back("def shown(amount: int) -> str:\\n    return amount\\n", 1)
        True
    """
    for node in ast.parse(text).body:
        if isinstance(node, Function) and node.lineno <= line + 1 <= (node.end_lineno or 0):
            match node.body:
                case [ast.Return(value=ast.Name(id=name))]:
                    return any(arg.arg == name for arg, _ in arguments_of(node))
                case _:
                    return False
    return False


def overload_line(text: str, line: int) -> int | None:
    """The line of the overload for which a line was added to a file; None for the file's own lines.
    Lines count from 0.

    Args:
        text: of the file, with functions of overloads at its end.
        line: in it.
    """
    above = (_ADDED.match(each) for each in reversed(text.split("\n")[: line + 1]))
    return next((int(found[1]) - 1 for found in above if found), None)
