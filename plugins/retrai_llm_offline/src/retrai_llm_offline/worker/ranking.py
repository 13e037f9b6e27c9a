"""What is looked at first: suspicious lines, and repairs that were found."""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import Dict, Iterable, List, Sequence, Set, Tuple

from .bench import Bench, Detail
from .source import SourceFile

NOTHING_NEW_BONUS = 0.15
_TOKEN = re.compile(
    r"""\w+(?:\.\d+)?|'[^'\n]*'|"[^"\n]*"|[-+*/%&|^<>=!:@]=|\*\*=?|//=?|<<=?|>>=?|->|[^\w\s()]"""
)


def by_merit(bench: Bench, found: Sequence[Detail]) -> List[Detail]:
    """Repairs in order of merit: most tests fixed, then the plainest, then the least text.

    An edit that only takes away, or says once more what the file says already, is plainer than its
    cost: it invents nothing.
    """
    return sorted(found, key=lambda detail: _merit(bench, detail))


def _merit(bench: Bench, found: Detail) -> Tuple[int, float, int]:
    candidate = found.candidate
    changes: List[Tuple[str, str]] = []
    repeats = True
    for edit in candidate.edits:
        source = bench.source(edit.path)
        if source is not None:
            before = source.text[edit.start : edit.end]
            changes.append((before, edit.text))
            repeats = repeats and not before and is_line_of(source.text, edit.text)
    nothing_new = repeats or only_takes_away(changes)
    return (
        -len(found.fixed),
        candidate.cost - (NOTHING_NEW_BONUS if nothing_new else 0.0),
        sum(len(before) + len(after) for before, after in changes),
    )


def only_takes_away(changes: Iterable[Tuple[str, str]]) -> bool:
    """Whether changes of text, each as before and after, leave out code and write none anew.

    White space and parentheses do not count, nor does where something stands.

    Example:
        >>> only_takes_away([("n % 2 - 1", "n % 2")]), only_takes_away([("1.0", "-1.0")])
        (True, False)
    """
    old: Counter[str] = Counter()
    new: Counter[str] = Counter()
    for before, after in changes:
        old.update(_TOKEN.findall(before))
        new.update(_TOKEN.findall(after))
    return not new - old and bool(old - new)


def is_line_of(text: str, inserted: str) -> bool:
    """Whether a text has a line like the inserted one, however that is indented.

    Example:
        >>> is_line_of("if x:\\n    y.append(x)\\n", "y.append(x)\\n"), is_line_of("y = x", "y")
        (True, False)
    """
    return inserted.strip() in {line.strip() for line in text.splitlines()}


def add_constants(source: SourceFile, scores: Dict[int, float], doubt: float) -> None:
    """Suspect a little what runs at import: tables, class attributes, defaults of suspects.

    No test runs these lines, so no spectrum shows them.
    """
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.Module, ast.ClassDef)):
            for statement in node.body:
                if isinstance(statement, (ast.Assign, ast.AnnAssign)):
                    last = int(statement.end_lineno or statement.lineno)
                    for line in range(statement.lineno, last + 1):
                        scores.setdefault(line, doubt)
    for unit in source.units:
        body = range(unit.node.body[0].lineno, unit.last_line + 1)
        inside = max([scores.get(line, 0.0) for line in body] + [0.0])
        if inside and (unit.node.args.defaults or unit.node.args.kw_defaults):
            for line in range(unit.node.lineno, unit.node.body[0].lineno):
                scores.setdefault(line, 0.6 * inside)


def functions_at(bench: Bench, places: Set[Tuple[str, int]]) -> Set[Tuple[str, str]]:
    """The functions in which these lines stand."""
    names: Set[Tuple[str, str]] = set()
    for path, line in places:
        source = bench.source(path)
        unit = source.unit_at(line) if source is not None else None
        if unit is not None:
            names.add((path, unit.name))
    return names
