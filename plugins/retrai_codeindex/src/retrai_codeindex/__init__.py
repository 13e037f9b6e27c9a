"""A code index for retrai: search, definitions and a call graph of a project.

The library API is `Index`; see docs/codeindex.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .graph import Call, Definition
    from .index import Index, Stats
    from .indexer import Update
    from .search import Hit
    from .store import IndexUnavailableError

_HOME = {
    "Call": "graph",
    "Definition": "graph",
    "Hit": "search",
    "Index": "index",
    "IndexUnavailableError": "store",
    "Stats": "index",
    "Update": "indexer",
}

__all__ = ["Call", "Definition", "Hit", "Index", "IndexUnavailableError", "Stats", "Update"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
