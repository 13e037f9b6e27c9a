"""Types that a run turned into `Any`, with which a type checker believes everything.

Only what a repair hardly needs is told: a type that was written down and is `Any` now, and a cast
to `Any`. A new annotation with `Any` is how strict projects name what an untyped library gives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from retrai_core import Suspicion

from .diff_lines import added_lines, removed_lines, text_before

_TYPING = frozenset({"typing", "typing_extensions"})
_UNIONS = frozenset({"Optional", "Union"})
_Key = tuple[str, ...]


def became_any(diff: str, project: Path) -> Iterator[Suspicion]:
    """Annotations of the changed files that are `Any` now, and new casts to it.

    Args:
        diff: the whole diff of the run.
        project: where the changed files stand.
    """
    changed = {path for path, _, _ in added_lines(diff)} | {path for path, _ in removed_lines(diff)}
    for path in sorted(path for path in changed if path.endswith((".py", ".pyi"))):
        try:
            text = (project / path).read_text("utf-8", errors="replace")
        except OSError:
            continue  # it is gone
        now, before = _types_of(text), _types_of(text_before(diff, path, text.split("\n")))
        for key, annotation in now.annotations.items():
            old = before.annotations.get(key)
            if old is not None and now.is_looser(old, annotation, before):
                was = ast.unparse(old)[:60]
                what = f"`{was}` became `{ast.unparse(annotation)[:60]}`, which pyright believes"
                yield Suspicion(path, annotation.lineno, what)
        new = {number for name, number, _ in added_lines(diff) if name == path}
        casts = [line for line in now.casts if line in new]
        for line in casts[: max(0, len(now.casts) - len(before.casts))]:
            yield Suspicion(path, line, "a new cast to `Any`, which pyright believes")


@dataclass
class _Types:
    """What a file writes down about types.

    Attributes:
        annotations: by the names around each and its own.
        casts: the lines of casts to `Any`.
        names: what `Any` and `cast` are called here.
    """

    annotations: dict[_Key, ast.expr] = field(default_factory=dict[_Key, ast.expr])
    casts: list[int] = field(default_factory=list[int])
    names: dict[str, str] = field(default_factory=dict[str, str])

    def is_any(self, node: ast.expr) -> bool:
        """Whether it is `Any`, or a choice with it among others."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return (inner := _parsed(node.value)) is not None and self.is_any(inner)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self.is_any(node.left) or self.is_any(node.right)
        if isinstance(node, ast.Subscript) and _last_name(node.value) in _UNIONS:
            return any(map(self.is_any, _parts(node)))
        return self._is(node, "Any")

    def is_looser(self, old: ast.expr, new: ast.expr, before: _Types) -> bool:
        """Whether `Any` stands where something else stood, also within brackets."""
        old, new = _unquoted(old), _unquoted(new)
        if self.is_any(new):
            return not before.is_any(old)
        if not (isinstance(old, ast.Subscript) and isinstance(new, ast.Subscript)):
            return False
        if _last_name(old.value) != _last_name(new.value):
            return False
        pairs = zip(_parts(old), _parts(new), strict=False)
        return any(self.is_looser(one, other, before) for one, other in pairs)

    def see(self, node: ast.AST, around: _Key) -> None:
        """Note what stands in a node, and in those below it."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            around = (*around, node.name)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns is not None:
            self.annotations[*around, "return"] = node.returns
        elif isinstance(node, ast.arg) and node.annotation is not None:
            self.annotations[*around, "argument", node.arg] = node.annotation
        elif isinstance(node, ast.AnnAssign):
            self.annotations[*around, "variable", ast.unparse(node.target)] = node.annotation
        elif isinstance(node, ast.Call) and node.args and self._is(node.func, "cast"):
            self.casts += [node.lineno] if self.is_any(node.args[0]) else []
        for below in ast.iter_child_nodes(node):
            self.see(below, around)

    def _is(self, node: ast.expr, name: str) -> bool:
        if isinstance(node, ast.Name):
            return self.names.get(node.id) == name
        return isinstance(node, ast.Attribute) and node.attr == name


def _types_of(text: str) -> _Types:
    found = _Types()
    try:
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in _TYPING:
                found.names |= {each.asname or each.name: each.name for each in node.names}
        found.see(tree, ())
    except (SyntaxError, ValueError, RecursionError):
        return _Types()
    return found


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _unquoted(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _parsed(node.value) or node
    return node


def _parts(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _last_name(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]
