"""The generated harness of a project: where it lies, and the hash that it is frozen by."""

from __future__ import annotations

import ast
import hashlib
import itertools
import re
from pathlib import Path

HARNESS = ".retrai/eval_harness.py"
_HEAD = re.compile(r"# Written by `retrai generate-eval`; sha256 of what follows: ([0-9a-f]{64})\n")


_DESCRIBED = "# What the project should do, in its owner's words:"
_LINE = "#   "


def described(code: str, description: str) -> str:
    """The harness below the description that it was made from, as a comment.

    Example:
        >>> description_in(described("def test_it(): ...", "Sums prices.\\nIn cents."))
        'Sums prices.\\nIn cents.'
    """
    lines = [f"{_LINE}{line}".rstrip() for line in description.strip().splitlines()]
    return "\n".join([_DESCRIBED, *lines, "", code])


def description_in(text: str) -> str:
    """The description that a harness was made from; empty where it does not say."""
    lines = unsealed(text).splitlines()
    if not lines or lines[0] != _DESCRIBED:
        return ""
    found = itertools.takewhile(lambda line: line.startswith("#"), lines[1:])
    return "\n".join(line.removeprefix(_LINE.rstrip()).removeprefix(" " * 3) for line in found)


def sealed(code: str) -> str:
    """The harness with its hash in the first line."""
    code = unsealed(code).rstrip() + "\n"
    return f"# Written by `retrai generate-eval`; sha256 of what follows: {_digest(code)}\n{code}"


def unsealed(text: str) -> str:
    """The harness without that line."""
    return _HEAD.sub("", text, count=1) if _HEAD.match(text) else text


def seal_problem(text: str) -> str | None:
    """Why the hash does not fit; None where it does, or where someone wrote the harness by hand.

    Example:
        >>> seal_problem(sealed("def test_it(): ...")) is None
        True
        >>> seal_problem(sealed("def test_it(): ...") + "x = 1")
        'it was changed after it was generated'
    """
    head = _HEAD.match(text)
    if head is None or head[1] == _digest(text[head.end() :]):
        return None
    return "it was changed after it was generated"


def hash_of(text: str) -> str:
    """The hash of the harness itself, without the first line."""
    return _digest(unsealed(text))


def code_problem(code: str) -> str | None:
    """Why a text is no pytest harness, as far as reading it tells; None where it may be one."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError) as error:
        where = f" in line {error.lineno}" if isinstance(error, SyntaxError) else ""
        return f"it is no Python{where}: {error}"
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    tests = [node for node in ast.walk(tree) if isinstance(node, functions)]
    if not any(node.name.startswith("test") for node in tests):
        return "it has no test function (`def test_...`)"
    return None


def read_harness(project: Path) -> str | None:
    """The harness of a project; None where there is none."""
    try:
        return (project / HARNESS).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()
