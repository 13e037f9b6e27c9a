"""Undoes what bypasses a type checker, so that the errors behind it show again.

`cast(Order, found).note` is `found.note` for a running program, and so are
`getattr(found, "note")`, `vars(found)["note"]` and `attrgetter("note")(found)`; `found: Any = f()`
is `found = f()`, `setattr(shop, "owner", None)` is `shop.owner = None`, `f(*[a, b])` is `f(a, b)`,
and `json.loads(json.dumps(row))` is `row`. They correct nothing, and nor does a
declared type that became `Any`. An overload may promise what its function does not give: the
function is added with the types of each. What stood there when the run began stays.
"""

from __future__ import annotations

import ast
import builtins
import re
import typing
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import accumulate
from keyword import iskeyword

from retrai_goal_support import python_functions

from ..python_source import (
    NOT_PARSED,
    Definition,
    Function,
    arguments_of,
    last_name,
    replace_nodes,
)
from .overloads import functions_of_overloads

HINT = (
    "A cast, `getattr`, `setattr`, or `Any` for a type, corrects none of them: it hides them, and "
    "so does an overload that leaves out the `None` of its function. Check the value (`is None`, "
    "`isinstance`), or correct its type where it is declared."
)
_ROUND_TRIPS = {("loads", "dumps"), ("literal_eval", "repr"), ("eval", "repr")}
"""What gives an equal value back, of no type."""
_CONVERTS = {"default", "cls"}
"""With these `json.dumps` makes something else of a value."""
_Code = ast.stmt | ast.expr | ast.arg
_Edit = tuple[_Code, _Code | ast.arguments]
"""What stands in the text, and what is put in its place."""
_ATTRIBUTE_OF = re.compile(r'for class "(?:type\[)?(\w+)|attribute of module')
_UNSURE = re.compile(
    r'"object[*"]|@|\b(?:Unknown|Any)\b|to (?:type|parameter|return)[^\n]*"Literal\['
    r"|could not be resolved"
)
"""Errors that may be false alarms: of a type that says nothing, of a type variable, of a text that
may be one of a `Literal`, of a module that the copy lacks."""


def without_bypasses(before: str, now: str, wider: Collection[str] = ()) -> str:
    """The text of a file with its new bypasses undone, on the same lines, and after them what its
    new overloads promise; empty where it has none, or is no Python.

    Args:
        before, now: the file when the run began, and now.
        wider: parameters that may take `Any`, since callers gave other things than their types.

    Example:
        >>> without_bypasses("", 'a = cast(\\n  str, b)\\nc = getattr(d.e, "f")\\ng: Any = 1')
        'a = (b\\n)\\nc = (d.e.f)\\ng = 1'
    """
    with suppress(*NOT_PARSED):
        return _undone(before.removeprefix("\ufeff"), now.removeprefix("\ufeff"), wider)
    return ""


def is_certain(message: str, classes: Collection[str]) -> bool:
    """Whether an error cannot be a false alarm.

    Args:
        message: of the type checker.
        classes: those of the project. Objects of other classes may have more attributes than the
            type checker knows.

    Example:
        >>> is_certain('Cannot access attribute "x" for class "Order*"', ["Order"])
        True
        >>> is_certain('"_MEIPASS" is not a known attribute of module "sys"', ["Order"])
        False
    """
    if '"None"' in message:
        return True
    if found := _ATTRIBUTE_OF.search(message):
        return found[1] in classes or found[1] in vars(builtins)
    return not _UNSURE.search(message)


def _undone(before: str, now: str, wider: Collection[str]) -> str:
    old, tree = ast.parse(before), ast.parse(now)
    known = Counter(ast.unparse(node) for node, _ in _bypasses(old))
    starts = list(accumulate((len(line.encode()) + 1 for line in now.split("\n")), initial=0))
    data = now.encode()
    undone = [
        *_bypasses(tree),
        *_types_that_became_any(old, tree, wider),
        *_signatures_that_take_anything(before, now),
    ]
    for node, plain in reversed([*_outermost(undone)]):
        text = ast.unparse(node)
        known[text] -= 1
        if known[text] >= 0:
            continue
        first, column, last, end = _span(node)
        new = ast.unparse(plain) + "\n" * (last - first)
        new = f"({new})" if isinstance(plain, ast.expr) else new
        data = data[: starts[first - 1] + column] + new.encode() + data[starts[last - 1] + end :]
    added = [f"\n{ast.unparse(each)}\n" for each in functions_of_overloads(old, tree)]
    if data == now.encode() and not added:
        return ""
    return "".join([data.decode(), *added])


def _outermost(found: Iterable[_Edit]) -> Iterator[_Edit]:
    """Those that do not stand within another one, in their order."""
    done = (0, 0)
    last_first = sorted(found, key=lambda each: _span(each[0])[2:], reverse=True)
    for node, plain in sorted(last_first, key=lambda each: _span(each[0])[:2]):
        first, column, last, end = _span(node)
        if (first, column) >= done:
            done = last, end
            yield node, plain


def _span(node: _Code) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def _types_that_became_any(
    before: ast.Module, now: ast.Module, wider: Collection[str]
) -> Iterator[_Edit]:
    """What a function takes or gives back, or a class holds, whose type said more before; each with
    what stood there."""
    old = _declared(before)
    for name, (node, said) in _declared(now).items():
        if said and isinstance(node, ast.arg) and node.arg in wider:
            continue
        if (known := old.get(name)) and known[1] and _says_less(said, known[1]):
            yield node, ast.arg(node.arg, known[1]) if isinstance(node, ast.arg) else known[1]


def _signatures_that_take_anything(before: str, now: str) -> Iterator[_Edit]:
    """Where functions take `*args, **kwargs` now, each with the parameters that it had."""
    known = python_functions(before)
    for name, function in python_functions(now).items():
        args, old = function.args, known.get(name)
        if not (old and args.vararg and args.kwarg) or old.args.vararg or old.args.kwarg:
            continue
        plain = [arg for arg, _ in arguments_of(function)]
        said = [each.annotation for each in (args.vararg, args.kwarg) if each.annotation]
        if len(plain) < len(arguments_of(old)) and all(map(_is_any, said)):
            first, last = [*plain, args.vararg][0], args.kwarg
            whole = ast.copy_location(ast.arg(""), first)
            whole.col_offset -= first is args.vararg  # its star
            whole.end_lineno, whole.end_col_offset = last.end_lineno, last.end_col_offset
            yield whole, old.args


def _declared(tree: ast.Module) -> dict[str, tuple[ast.expr | ast.arg, ast.expr | None]]:
    """Where a type stands, or a parameter that may have one, by names like `Loan.due.day`."""
    found: dict[str, tuple[ast.expr | ast.arg, ast.expr | None]] = {}

    def search(node: ast.AST, prefix: str) -> None:
        if isinstance(node, Function):
            # `**options` may be of any type for good reasons.
            own = (arg for arg, _ in arguments_of(node))
            found.update({f"{prefix}{each.arg}": (each, each.annotation) for each in own})
            if node.returns:
                found[f"{prefix}return"] = (node.returns, node.returns)
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.AnnAssign) and isinstance(node, ast.ClassDef):
                found[prefix + ast.unparse(each.target)] = (each.annotation, each.annotation)
            search(each, f"{prefix}{each.name}." if isinstance(each, Definition) else prefix)

    search(tree, "")
    return found


def _says_less(now: ast.expr | None, before: ast.expr) -> bool:
    """Whether a type is gone, or `Any` stands where a class of the project or `None` was, and all
    else is as before."""
    if now is None:
        return not _is_any(before)
    form = re.sub(r"\bAny\b", "(.+)", re.escape(ast.unparse(now).strip("'\"")))
    found = re.fullmatch(form, ast.unparse(before).strip("'\""))
    names = set(re.findall(r"\w+", " ".join(found.groups()))) if found else set[str]()
    return any(
        name in ("None", "Optional") or not (hasattr(typing, name) or hasattr(builtins, name))
        for name in names
    )


def _bypasses(tree: ast.Module) -> Iterator[tuple[_Code, _Code]]:
    """The outermost bypasses, each with what it stands for."""
    # Decorators cast the function that they give back, and classes that are mixed in themselves.
    usual = {"self", *(each.name for each in ast.walk(tree) if isinstance(each, Function))}

    def undo(node: ast.AST) -> ast.expr | None:
        plain = _plain(node, usual)
        return None if plain is None else replace_nodes(plain, undo)

    def search(node: ast.AST, *, in_class: bool) -> Iterator[tuple[_Code, _Code]]:
        match node:
            case ast.AnnAssign(target=target, annotation=said, value=value) if (
                _is_any(said) and not in_class
            ):
                plain = value and ast.Assign([target], replace_nodes(value, undo), lineno=0)
                yield node, plain or ast.Pass()
                return
            case ast.Expr(
                value=ast.Call(
                    func=ast.Name(id="setattr"),
                    args=[target, ast.Constant(value=str(name)), ast.Constant(value=None)],
                    keywords=[],
                )
            ) if _is_name(name):
                # Another value may be that of an attribute which no class declares.
                attribute = ast.Attribute(replace_nodes(target, undo), name)
                yield node, ast.Assign([attribute], ast.Constant(None), lineno=0)
                return
            case ast.expr() if plain := undo(node):
                yield node, plain
                return
            case _:
                pass
        for each in ast.iter_child_nodes(node):
            yield from search(each, in_class=isinstance(node, ast.ClassDef))

    return search(tree, in_class=False)


def _is_any(said: ast.expr) -> bool:
    return last_name(said) == "Any" or (isinstance(said, ast.Constant) and said.value == "Any")


def _plain(node: ast.AST, usual: Collection[str]) -> ast.expr | None:
    """What a bypass stands for.

    Args:
        node: any node.
        usual: names that are often cast.
    """
    match node:
        case (
            ast.Call(func=function, args=[said, value], keywords=[])
            | ast.Call(func=function, args=[said], keywords=[ast.keyword(arg="val", value=value)])
        ) if last_name(function) == "cast":
            is_usual = isinstance(value, ast.Name) and value.id in usual and not _is_any(said)
            return None if is_usual else value
        case ast.Call(
            func=back, args=[ast.Call(func=forth, args=[value, *_], keywords=how)], keywords=[]
        ) if (last_name(back), last_name(forth)) in _ROUND_TRIPS:
            is_equal = _CONVERTS.isdisjoint(each.arg or "default" for each in how)
            return value if is_equal and "pickle" not in ast.unparse(back) else None
        case ast.Call(args=given) if (args := _unpacked(given)) != given:
            return ast.Call(node.func, args, node.keywords)
        case (
            ast.Call(
                func=ast.Name(id="getattr"),
                args=[value, ast.Constant(value=str(path))],
                keywords=[],
            )
            | ast.Subscript(
                value=ast.Call(func=ast.Name(id="vars"), args=[value])
                | ast.Attribute(value=value, attr="__dict__"),
                slice=ast.Constant(value=str(path)),
                ctx=ast.Load(),
            )
        ):
            names = [path]
        case ast.Call(
            func=ast.Call(args=[ast.Constant(value=str(path))], keywords=[]) as getter,
            args=[value],
            keywords=[],
        ) if last_name(getter) == "attrgetter":
            names = path.split(".")
        case _:
            return None
    for name in names:
        if not _is_name(name):
            return None
        value = ast.Attribute(value, name)
    return value


def _unpacked(args: list[ast.expr]) -> list[ast.expr]:
    """The arguments of a call with those of lists that are written out there."""
    found: list[ast.expr] = []
    for each in args:
        if isinstance(each, ast.Starred) and isinstance(each.value, (ast.List, ast.Tuple)):
            found += each.value.elts
        else:
            found.append(each)
    return found


def _is_name(text: str) -> bool:
    return text.isidentifier() and not iskeyword(text)
