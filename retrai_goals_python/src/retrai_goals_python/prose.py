"""What of a Python file is written for readers only: comments and docstrings."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Mapping

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_READS_PROSE = ("__doc__", "exec", "eval", "getsource", "getdoc", "getcomments")
"""Names by which a program may use what stands in its own prose."""


def code_lines(text: str) -> Mapping[int, str]:
    """Each line of a Python file without its comments and docstrings, by line number from 1.

    Prose that the program itself could read is no prose: where it names `__doc__` or `exec`, every
    line stays as it is. So it does where the file is no Python.

    Example:
        >>> code_lines("def f():  # sys.modules\\n    'Like os._exit.'\\n    return 1\\n")[1]
        'def f():  '
    """
    lines = dict(enumerate(text.split("\n"), start=1))
    try:
        tree = ast.parse(text)
        comments = [
            token
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type == tokenize.COMMENT
        ]
    except (SyntaxError, ValueError, tokenize.TokenError, RecursionError):
        return lines
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    if names.intersection(_READS_PROSE):
        return lines
    for token in comments:
        row, column = token.start
        lines[row] = lines[row][:column]
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            # Only where nothing else stands on its lines.
            if node.body[1:2] and node.body[1].lineno == docstring.end_lineno:
                continue
            for row in range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1):
                lines[row] = ""
    return lines
