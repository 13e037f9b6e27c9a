"""The dotted names of Python files: what they are called, and what they can be imported as."""

from __future__ import annotations

from collections.abc import Iterable


def module_names(paths: Iterable[str]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """For each path the dotted name, and other names that an import may use.

    A file is named as it would be imported: from the folder above its outermost package, if that is
    called `src` or `lib`, or belongs to a distribution of its own; else from the project's folder.

    Example:
        >>> module_names(["src/api/__init__.py", "src/api/cart.py"])["src/api/cart.py"]
        ('api.cart', ('src.api.cart',))
    """
    every = sorted(paths)
    packages = {path.rpartition("/")[0] for path in every if _stem(path) == "__init__"}
    names: dict[str, tuple[str, tuple[str, ...]]] = {}
    for path in every:
        folder = path.rpartition("/")[0]
        root = folder
        while root and root in packages:
            root = root.rpartition("/")[0]
        dotted, imported = _dotted(path), _dotted(path[len(root) + 1 :] if root else path)
        if root and root.rpartition("/")[2] in ("src", "lib"):
            names[path] = (imported, (dotted,))
        else:
            names[path] = (dotted, (imported,) if imported != dotted else ())
    return names


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _dotted(path: str) -> str:
    base = path.rpartition(".")[0]
    if base.rpartition("/")[2] == "__init__":
        base = base.rpartition("/")[0] or "__init__"
    return base.replace("/", ".")
