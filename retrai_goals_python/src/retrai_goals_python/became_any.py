"""Types that a run turned into `Any`, with which a type checker believes everything.

Only what a repair hardly needs is told: a type that was written down and is `Any` now, and a cast
to `Any`. A new annotation with `Any` is how strict projects name what an untyped library gives.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from retrai_core import Suspicion
from retrai_goal_support import changed_files

from .python_source import parse

_ANY = re.compile(r"\b(?:\w+\.)*Any\b")
_CAST = re.compile(r"\bcast\(\s*[\"']?(?:\w+\.)*Any\b")
_OPTIONAL = re.compile(r"(?:\w+\.)*Optional\[(.*)\]|(.*) \| None")


def became_any(diff: str, project: Path) -> Iterator[Suspicion]:
    """Annotations of the changed files that are `Any` now, and new casts to it.

    Args:
        diff: the whole diff of the run.
        project: where the changed files stand.
    """
    for path, before, now in changed_files(diff, project):
        if not path.endswith((".py", ".pyi")):
            continue
        old = dict(_annotations(parse(before), ""))
        for key, annotation in _annotations(parse(now), ""):
            written, was = ast.unparse(annotation), ast.unparse(old.get(key, annotation))
            if _is_looser(was, written):
                what = f"`{was[:60]}` became `{written[:60]}`, which pyright believes"
                yield Suspicion(path, annotation.lineno, what)
        known = {line.strip() for line in before.split("\n")}
        for number, line in enumerate(now.split("\n"), start=1):
            if _CAST.search(line) and line.strip() not in known:
                yield Suspicion(path, number, "a new cast to `Any`, which pyright believes")


def _is_looser(old: str, new: str) -> bool:
    """Whether `Any` stands where something else stood, also within brackets."""
    old, new = _without_none(old), _without_none(new)
    around = map(re.escape, _ANY.split(new))
    return old != new and re.fullmatch(".+".join(around), old) is not None


def _without_none(annotation: str) -> str:
    text = annotation.strip("'\"")
    found = _OPTIONAL.fullmatch(text)
    return (found[1] or found[2]) if found else text


def _annotations(node: ast.AST, around: str) -> Iterator[tuple[str, ast.expr]]:
    """What is annotated below a node: its name with those around it, and the annotation."""
    for part in ast.iter_child_nodes(node):
        name = around
        match part:
            case ast.FunctionDef(returns=returns) | ast.AsyncFunctionDef(returns=returns):
                name = f"{around}{part.name}."
                if returns is not None:
                    yield f"{name}return", returns
            case ast.ClassDef():
                name = f"{around}{part.name}."
            case ast.arg(annotation=ast.expr() as annotation):
                yield f"{around}argument {part.arg}", annotation
            case ast.AnnAssign(annotation=annotation):
                yield f"{around}variable {ast.unparse(part.target)}", annotation
            case _:
                pass
        yield from _annotations(part, name)
