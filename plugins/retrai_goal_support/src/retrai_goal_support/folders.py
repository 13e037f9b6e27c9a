"""Files of a project, and what they hold."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

_NOT_OURS = frozenset(
    {".git", ".hg", ".svn", ".retrai", "__pycache__", "node_modules", "target", "vendor"}
)


def project_files(folder: Path) -> Iterator[str]:
    """Relative paths of a project's own files, with forward slashes, in a fixed order.

    What is installed, fetched or built (`node_modules`, `vendor`, `target`, virtual environments)
    and version control are left out; what git ignores is not.

    Example:
        >>> import tempfile
        >>> project = Path(tempfile.mkdtemp())
        >>> for name in ("node_modules", "src"):
        ...     project.joinpath(name).mkdir()
        ...     project.joinpath(name, "shop.js").touch()
        >>> list(project_files(project))
        ['src/shop.js']
    """
    for base, folders, names in os.walk(folder):
        own = (name for name in folders if name not in _NOT_OURS)
        folders[:] = sorted(name for name in own if not Path(base, name, "pyvenv.cfg").exists())
        for name in sorted(names):
            yield os.path.relpath(os.path.join(base, name), folder).replace(os.sep, "/")


def text_of(path: Path, max_chars: int = -1) -> str:
    """The text of a regular file, or its beginning; empty where it is none or cannot be read.

    Args:
        path: of the file; what is not UTF-8 in it is replaced.
        max_chars: how much is read; all of it below 0.

    Example:
        >>> text_of(Path("/nonexistent"))
        ''
    """
    try:
        if not path.is_file():  # a pipe would be waited for
            return ""
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(max_chars)
    except (OSError, ValueError):  # a name with a NUL is no file's
        return ""


def bytes_of(path: Path, max_bytes: int) -> bytes:
    """The bytes of a regular file that code of the project may have written or replaced.

    A symbolic link is not followed and a named pipe not waited for.

    Args:
        path: of the file.
        max_bytes: how much is read.

    Returns:
        Its beginning; nothing where it is something else or cannot be read.

    Example:
        >>> bytes_of(Path("/dev/zero"), 10)
        b''
    """
    # Without O_NONBLOCK, opening a named pipe would wait for its writer.
    more = os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | more)) as file:
            is_regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return file.read(max_bytes) if is_regular else b""
    except OSError:
        return b""
