"""Type guards that accept a value that is not of the promised type.

pyright believes what `TypeGuard[str]` promises. So a guard that the run wrote is called, by itself
and in a process of its own, with values of several types.
A guard that needs more than builtins, imports and the classes of its module is not called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from textwrap import indent

from ..python_source import last_name, parse

_GUARDS = frozenset({"TypeGuard", "TypeIs"})

CALLER = """
import itertools, json, sys, typing
VALUES = [0, 1, -2, 1.5, True, "", "a", "1", b"", b"a", None, (), (1,), [], [1], ["a"], {},
          {"a": 1}, set(), {1}, 1j, object(), type, print]
ITEMS = {list: lambda value: [value], dict: lambda value: {"a": value}, set: lambda value: {value}}

def plain(found):
    if found is typing.Any or found is object:
        return (object,)
    parts = typing.get_args(found) if typing.get_origin(found) in UNIONS else (found,)
    kinds = [type(None) if each is None else typing.get_origin(each) or each for each in parts]
    if not all(isinstance(each, type) for each in kinds):
        raise TypeError(found)
    # A type checker takes an int for a float, and a float for a complex number.
    kinds += [int] if float in kinds or complex in kinds else []
    return tuple([*kinds, float] if complex in kinds else kinds)

def is_of(value, kinds):
    return any(
        isinstance(value, dict)
        # A name in a string, `from __future__ import annotations` say, is not seen by `typing`.
        and all(key in value or "NotRequired" in str(kind.__annotations__[key])
                for key in kind.__required_keys__)
        if hasattr(kind, "__required_keys__") else isinstance(value, kind)
        for kind in kinds
    )

report, sys.stdout = sys.stdout, sys.stderr  # a guard may print
sys.path[:0] = [".", "src"]  # of the project, which are not there in isolated mode
UNIONS = {typing.Union, type(int | str)} if sys.version_info >= (3, 10) else {typing.Union}
for name, source, given, promised, needed in json.loads(sys.argv[1]):
    names = {"typing": typing, **vars(typing)}
    try:
        exec(needed + source, names)
        takes, gives = eval(given, names), eval(promised, names)
        tried = [(plain(takes), plain(gives), lambda value: value)]
        kind = typing.get_origin(takes)
        if kind in ITEMS and kind is typing.get_origin(gives):
            items = [plain(typing.get_args(each)[-1]) for each in (takes, gives)]
            tried.append((*items, ITEMS[kind]))
    except BaseException:
        continue
    for value, (takes, gives, made) in itertools.product(VALUES, tried):
        try:
            if is_of(value, takes) and not is_of(value, gives) and names[name](made(value)):
                print(json.dumps(name), file=report)
                break
        except BaseException:
            continue
"""


def guards_in(text: str) -> dict[str, list[str]]:
    """The guards of a file with one argument, by name.

    Each has its source, the argument's and the promised type, and the module's imports and classes.
    A type variable of the module without a bound or constraints stands for `int`.

    Example:
        >>> text = "def is_text(v: object) -> TypeGuard[str]:\\n    return bool(v)\\n"
        >>> guards_in(text)["is_text"][1:3]
        ['object', 'str']
    """
    tree = parse(text)
    needed = "".join(
        f"try:\n{indent(ast.unparse(node), '    ')}\nexcept BaseException: pass\n"
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ClassDef))
        or (isinstance(node, ast.ImportFrom) and not node.level and node.module != "__future__")
    )
    needed += "".join(f"{name} = int\n" for name in _free_variables(tree))
    found: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or not isinstance(node.returns, ast.Subscript):
            continue
        arguments = [each for each in node.args.args if each.arg not in ("self", "cls")]
        if last_name(node.returns.value) in _GUARDS and len(arguments) == 1:
            annotation = arguments[0].annotation
            given = "object" if annotation is None else ast.unparse(annotation)
            promised = ast.unparse(node.returns.slice)
            # A function of one argument.
            takes = ast.arguments([], [ast.arg(arguments[0].arg)], None, [], [], None, [])
            plain = ast.FunctionDef(node.name, takes, node.body, [])
            source = ast.unparse(ast.fix_missing_locations(plain))
            found[node.name] = [source, given, promised, needed]
    return found


def _free_variables(tree: ast.Module) -> Iterator[str]:
    """The module's type variables without a bound or constraints."""
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=func, args=[_], keywords=keywords)
            ):
                if last_name(func) == "TypeVar" and all(one.arg != "bound" for one in keywords):
                    yield name
            case _:
                pass
