"""All candidates for the suspicious lines of a file, the likeliest first."""

from __future__ import annotations

import ast
from collections import deque
from itertools import islice
from typing import Callable, Dict, Iterator, List, Mapping, Optional, Tuple

from .candidate import Candidate, Edit, Proposal
from .operators import (
    arithmetic,
    calls,
    comparisons,
    comprehensions,
    insertions,
    ladders,
    literals,
    moves,
    names,
    operands,
    shapes,
    statements,
)
from .operators.everywhere import everywhere
from .operators.site import Material, Site, in_function
from .scope import Scope
from .source import SourceFile

Operator = Callable[[Site], Iterator[Proposal]]

EXPRESSION_OPERATORS: List[Operator] = [
    comparisons.comparison,
    comparisons.boolean,
    comparisons.condition,
    arithmetic.binary,
    arithmetic.unary,
    arithmetic.one_off,
    arithmetic.constant,
    names.variable,
    names.attribute,
    names.as_attribute,
    names.returned_name,
    names.returned_instead,
    calls.callee,
    calls.arguments,
    calls.more_arguments,
    calls.nested,
    shapes.subscript,
    shapes.literal,
    comprehensions.comprehension,
    shapes.wrapped,
    shapes.both_sides,
    shapes.ingredient,
    shapes.target,
    shapes.joined_with,
    operands.calls_around,
    statements.yielding,
    insertions.missing_import,
]
STATEMENT_OPERATORS: List[Operator] = [
    statements.assignment,
    statements.returned,
    statements.dropped,
    statements.removal,
    moves.moved,
    statements.branches,
    statements.yielding,
    ladders.left_out,
    ladders.split,
]
FAR_OPERATORS: List[Operator] = [
    comparisons.added_condition,
    comparisons.guarding_condition,
    insertions.guarded,
    insertions.early_exit,
    insertions.update,
    insertions.checked,
    ladders.else_branch,
    ladders.further_branch,
    literals.documented,
    literals.further_numbers,
    literals.open_modes,
    literals.further_texts,
    literals.one_more_element,
    operands.missing_operand,
]
"""Many candidates each, none of them cheap: made only when the others have not helped."""

FAR_COST = 2.0
SUSPICION_WEIGHT = 0.8
MOST_NODES = 1_000
"""A statement of more expressions is a table that a program wrote, and has edits without end."""

_BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.FunctionDef, ast.ClassDef)


class Suspicion:
    """How suspicious each line of a file is, from 0 to 1."""

    def __init__(self, lines: Mapping[int, float]) -> None:
        self.lines = dict(lines)

    def of(self, node: ast.AST) -> float:
        """The highest suspicion over a statement's own lines, without the blocks inside it."""
        first = int(getattr(node, "lineno", 0))
        last = int(getattr(node, "end_lineno", None) or first)
        if isinstance(node, _BLOCKS) and node.body:
            last = max(first, node.body[0].lineno - 1)
        return max([self.lines.get(line, 0.0) for line in range(first, last + 1)] + [0.0])


def candidates(source: SourceFile, suspicion: Suspicion, far: bool = False) -> List[Candidate]:
    """The candidates of a file's suspicious statements, without repeats, sorted by cost.

    Those of `FAR_OPERATORS` only with `far`, and then nothing else; they cost `FAR_COST` or more.

    Each replaces text by position, so what it does not touch keeps its form; each is checked
    to leave a file that parses only when it is tried.
    """
    found: Dict[str, Candidate] = {}
    for statement, doubt in _statements(source, suspicion):
        for proposal, line in _proposals(source, statement, far):
            candidate = _candidate(source, proposal, line, doubt)
            if candidate is None:
                continue
            known = found.get(candidate.key)
            if known is None or candidate.cost < known.cost:
                found[candidate.key] = candidate
    if not far:
        for proposal, line, doubt in _everywhere(source, suspicion):
            candidate = _candidate(source, proposal, line, doubt)
            if candidate is not None:
                found.setdefault(candidate.key, candidate)
    return sorted(
        found.values(), key=lambda item: (round(item.cost, 3), item.line, item.edits[0].start)
    )


def _candidate(
    source: SourceFile, proposal: Proposal, line: int, doubt: float
) -> Optional[Candidate]:
    edits = tuple(
        Edit(source.path, start, end, text)
        for start, end, text in proposal.edits
        if source.text[start:end] != text
    )
    if not edits or any(_second_sign(source, edit) for edit in edits):
        return None
    cost = proposal.cost + SUSPICION_WEIGHT * (1.0 - doubt)
    return Candidate(edits, proposal.kind, line, cost, doubt)


def _second_sign(source: SourceFile, edit: Edit) -> bool:
    """Whether an edit puts a minus before a minus: what it does, a plainer one does too."""
    around = source.text[max(0, edit.start - 1) : edit.start]
    return "--" in around + edit.text and "--" not in source.text[edit.start : edit.end]


def _statements(source: SourceFile, suspicion: Suspicion) -> Iterator[Tuple[ast.stmt, float]]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.stmt):
            doubt = suspicion.of(node)
            if doubt > 0 and len(list(islice(_own_nodes(node), MOST_NODES + 1))) <= MOST_NODES:
                yield node, doubt


def _proposals(
    source: SourceFile, statement: ast.stmt, far: bool
) -> Iterator[Tuple[Proposal, int]]:
    scopes: Dict[ast.AST, Scope] = {}
    root = _outermost(source, statement)
    material = Material(source, root)
    for node in _own_nodes(statement):
        if not in_function(source, node):
            continue
        holder = _scope_holder(source, node)
        if holder not in scopes:
            scopes[holder] = Scope(source, node)
        site = Site(source, node, scopes[holder], material)
        plain = STATEMENT_OPERATORS if isinstance(node, ast.stmt) else EXPRESSION_OPERATORS
        operators = FAR_OPERATORS if far else plain
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for operator in operators:
            for proposal in operator(site):
                yield proposal, int(getattr(node, "lineno", statement.lineno))


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """A statement and the expressions in it, not the statements of its blocks."""
    yield statement
    pending = deque(ast.iter_child_nodes(statement))
    while pending:
        node = pending.popleft()
        if isinstance(node, ast.stmt):
            continue
        if isinstance(node, ast.expr):
            yield node
        elif isinstance(node, ast.ExceptHandler):
            if node.type is not None:
                pending.append(node.type)
            continue
        pending.extend(ast.iter_child_nodes(node))


def _scope_holder(source: SourceFile, node: ast.AST) -> ast.AST:
    current: Optional[ast.AST] = source.parents.get(node)
    holders = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.stmt)
    while current is not None and not isinstance(current, holders):
        current = source.parents.get(current)
    return current if current is not None else node


def _outermost(source: SourceFile, node: ast.AST) -> ast.AST:
    found: ast.AST = node
    current: Optional[ast.AST] = node
    while current is not None:
        if isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found = current
        current = source.parents.get(current)
    return found


def _everywhere(source: SourceFile, suspicion: Suspicion) -> Iterator[Tuple[Proposal, int, float]]:
    for unit in source.units:
        lines = range(unit.first_line, unit.last_line + 1)
        doubt = max([suspicion.lines.get(line, 0.0) for line in lines] + [0.0])
        if doubt > 0:
            for proposal in everywhere(source, unit.node, Scope(source, unit.node)):
                yield proposal, source_line(source, proposal), doubt


def source_line(source: SourceFile, proposal: Proposal) -> int:
    """The line of a proposal's first edit."""
    return source.text.count("\n", 0, proposal.edits[0][0]) + 1
