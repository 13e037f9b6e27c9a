"""Finds where a file replaces something that is not its own: an attribute of an imported module."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass

_WRITES = ("setattr", "delattr")
_RUNNERS = ("pytest", "_pytest", "pluggy", "hypothesis")

# Attributes that the documentation of Python tells its users to assign to.
_SETTINGS = frozenset(
    {
        "decimal.DefaultContext.Emax",
        "decimal.DefaultContext.Emin",
        "decimal.DefaultContext.prec",
        "decimal.DefaultContext.rounding",
        "http.server.BaseHTTPRequestHandler.protocol_version",
        "logging.Formatter.converter",
        "logging.Formatter.default_msec_format",
        "logging.Formatter.default_time_format",
        "logging.lastResort",
        "logging.logMultiprocessing",
        "logging.logProcesses",
        "logging.logThreads",
        "logging.raiseExceptions",
        "socketserver.TCPServer.allow_reuse_address",
        "tempfile.tempdir",
        "threading.excepthook",
        "warnings.formatwarning",
        "warnings.showwarning",
    }
)


@dataclass(frozen=True, slots=True)
class Patch:
    """One line that replaces something: its number from 1, and what it does."""

    line: int
    what: str


def foreign_patches(text: str) -> list[Patch]:
    """Each line that assigns to, or deletes, an attribute of what the file has imported.

    Example:
        >>> foreign_patches("import json\\nload = json.decoder\\nload.scan = None\\n")
        [Patch(line=3, what='replaces json.decoder.scan')]
        >>> foreign_patches("import json\\nclass Shop: pass\\nShop.json = json\\n")
        []
        >>> foreign_patches("import logging, time\\nlogging.Formatter.converter = time.gmtime\\n")
        []
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    names = _imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            names.pop(node.arg, None)  # another thing of that name
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Name(name)], (ast.Name() | ast.Attribute()) as value):
                if dotted := _dotted(value, names):
                    names.setdefault(name, dotted)
            case _:
                pass
    found = [Patch(line, f"replaces {name}") for line, name in _written(tree, names)]
    return sorted(set(found), key=lambda patch: (patch.line, patch.what))


def _imported(tree: ast.Module) -> dict[str, str]:
    """What each imported name stands for, of the standard library and of what runs tests.

    Settings that a project keeps in a module of its own, or of a library, are honestly changed.
    """
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                names[alias.asname or name] = name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    judged = (*sys.stdlib_module_names, *_RUNNERS)
    return {name: full for name, full in names.items() if full.partition(".")[0] in judged}


def _written(tree: ast.Module, names: dict[str, str]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(owner, name, ast.Store() | ast.Del()):
                # The streams and hooks of `sys` are there to be replaced.
                dotted = _dotted(owner, names)
                if dotted not in ("", "sys") and f"{dotted}.{name}" not in _SETTINGS:
                    yield node.lineno, f"{dotted}.{name}"
            case ast.Subscript(ast.Attribute(owner, "__dict__" | "modules"), _, ast.Store()):
                if dotted := _dotted(owner, names):
                    yield node.lineno, f"what is in {dotted}"
            case ast.Call(ast.Name(call), [owner, *_]) if call in _WRITES:
                if dotted := _dotted(owner, names):
                    yield node.lineno, f"an attribute of {dotted}"
            case _:
                pass


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    """The full name of what an expression means; empty where it is nothing imported."""
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value, names)
        return f"{owner}.{node.attr}" if owner else ""
    return ""
