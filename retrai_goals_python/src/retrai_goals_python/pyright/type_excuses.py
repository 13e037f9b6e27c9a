"""How often a Python file tells a type checker to look away."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from retrai_goal_support import text_of

from ..python_source import Function, last_name, parse
from ..source_lines import SourceLines
from .output import Diagnostic, PyrightReport, relative_path

IGNORES = re.compile(r"#\s*(?:type:\s*ignore|pyright:\s*(?:ignore|basic|off|standard)\b)")
_UNNECESSARY = "reportUnnecessaryTypeIgnoreComment"
REPORT_UNNECESSARY = f"# pyright: {_UNNECESSARY}=warning"
"""With it, pyright names the ignore comments of a file that hide nothing."""
_RULES = re.compile(r"#\s*pyright:\s*(?P<rules>report\w+\s*=.*)")
_DYNAMIC_ATTRIBUTES = ("__getattr__", "__getattribute__")
_ONLY_RUNNING = ("not TYPE_CHECKING", "not typing.TYPE_CHECKING")
_CHECKING = "TYPE_CHECKING"
_LAXER = re.compile(r"report\w+\s*=\s*(?:false|none|information|warning)")


def excuses_in(folder: Path, names: Iterable[str]) -> dict[str, int]:
    """The number of excuses by file, for those that have any.

    Args:
        folder: where the files stand.
        names: the checked files, relative to `folder`.
    """
    found: dict[str, int] = {}
    for name in names:
        count = count_excuses(text_of(folder / name))
        # A stub is believed instead of the source beside it, which nobody looks at then.
        if name.endswith(".pyi") and _stands_for_source(folder, name):
            count += 1
        if count:
            found[name] = count
    return found


def unbound_returns(report: PyrightReport, folder: Path) -> Counter[str]:
    """By file, the functions that promise whatever type their caller needs: with a type variable
    that only the return type has.

    Args:
        report: of pyright.
        folder: where it ran.
    """
    sources = SourceLines(folder)
    counted: Counter[str] = Counter()
    for found in report.general_diagnostics:
        if found.rule == "reportInvalidTypeVarUse":
            name, at = relative_path(found.file, folder), found.range.start
            counted[name] += "->" in sources.line(name, at.line + 1)[: at.character]
    return counted


def _stands_for_source(folder: Path, stub: str) -> bool:
    """Whether a stub, beside the source or in a folder of stubs, is of a file of the project."""
    if (folder / stub).with_suffix(".py").is_file():
        return True
    parts = stub.removesuffix(".pyi").removesuffix("/__init__").split("/")
    modules = ["/".join(parts[start:]) for start in range(1, len(parts))]
    bases = [folder / root / module for root in ("", "src") for module in modules]
    return any(
        base.with_suffix(".py").is_file() or (base / "__init__.py").is_file() for base in bases
    )


def count_excuses(text: str) -> int:
    """Ignore comments, rules that a comment switches off, and what is not checked at all, or is
    another function where it runs.

    Example:
        >>> count_excuses("a = 1  # type: ignore\\n# pyright: reportCallIssue=false\\n")
        2
        >>> count_excuses("text = '# type: ignore'\\n")
        0
    """
    tree = parse(text)
    unchecked = {"no_type_check", "Any", *_other_names_of_any(tree)}
    count = sum(_is_unchecked(each, unchecked) for each in _seen_by_checker(tree))
    return sum(map(_in_comment, comments_in(text).values())) + count


def ignoring_lines(text: str) -> dict[int, str]:
    """The lines of a Python file that have an ignore comment, by number, from 1.

    Example:
        >>> ignoring_lines("a = 1\\n  b = f()  # type: ignore[no-any-return]\\n")
        {2: 'b = f()  # type: ignore[no-any-return]'}
    """
    lines = io.StringIO(text, newline=None).read().split("\n")
    comments = comments_in(text).items()
    return {number: lines[number - 1].strip() for number, said in comments if IGNORES.search(said)}


def is_unnecessary(found: Diagnostic) -> bool:
    """Whether pyright says that an ignore comment, and not only a part of it, hides nothing."""
    return found.rule == _UNNECESSARY and '"# type: ignore"' in found.message


def _in_comment(comment: str) -> int:
    rules = _RULES.search(comment)
    return len(IGNORES.findall(comment)) + (len(_LAXER.findall(rules["rules"])) if rules else 0)


def comments_in(text: str) -> dict[int, str]:
    """The comments of a Python file by line, from 1.

    Example:
        >>> comments_in("a = '# no'\\nb = 1  # yes\\n")
        {2: '# yes'}
    """
    # The parser ends a line at a lone carriage return too; tokenize does not.
    source = io.StringIO(text, newline=None)
    try:
        tokens = list(tokenize.generate_tokens(source.readline))
    except (SyntaxError, ValueError, tokenize.TokenError):
        lines = enumerate(source.getvalue().split("\n"), 1)
        return {number: line[line.index("#") :] for number, line in lines if "#" in line}
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}


def _seen_by_checker(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree, without what only a running program sees."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith(_ONLY_RUNNING):
            continue
        yield node
        yield from _seen_by_checker(node)


def _other_names_of_any(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(names=names):
                yield from (each.asname for each in names if each.name == "Any" and each.asname)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if last_name(value) == "Any":
                yield name
            case _:
                pass


def _is_unchecked(node: ast.AST, unchecked: Collection[str]) -> bool:
    """A definition with `@no_type_check`, or one with which every attribute exists.

    Args:
        node: of the tree.
        unchecked: names of decorators and bases with which nothing is checked.
    """
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            bases = node.bases if isinstance(node, ast.ClassDef) else ()
            names = [last_name(one) for one in (*node.decorator_list, *bases)]
            return node.name in _DYNAMIC_ATTRIBUTES or any(name in unchecked for name in names)
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in _DYNAMIC_ATTRIBUTES
        case ast.If(test=test, body=body, orelse=[_, *_]) if ast.unparse(test).endswith(_CHECKING):
            return any(isinstance(each, Function) for each in body)
        case _:
            return False
