"""Files of a project: their text, and copies that lack some of them."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

_AWAY = ".away"
"""No runner or tool chain takes a name that ends so for a test or a source."""


@contextmanager
def without_files(copy: Path, paths: Iterable[str]) -> Generator[None]:
    """While it lasts, `copy` does not have these files; then each is back as it was.

    Args:
        copy: a copy of the project, never the project itself.
        paths: relative to it.

    Raises:
        OSError: one of them is not there, or cannot be renamed.

    Example:
        >>> import tempfile
        >>> copy = Path(tempfile.mkdtemp())
        >>> _ = (copy / "new_test.go").write_text("package shop")
        >>> with without_files(copy, ["new_test.go"]):
        ...     (copy / "new_test.go").exists()
        False
        >>> (copy / "new_test.go").read_text()
        'package shop'
    """
    taken: list[Path] = []
    try:
        for path in (copy / each for each in paths):
            path.rename(path.with_name(path.name + _AWAY))
            taken.append(path)
        yield
    finally:
        for path in taken:
            path.with_name(path.name + _AWAY).rename(path)


def text_of(path: Path, max_chars: int = -1) -> str:
    """The text of a file, or its beginning; empty where it cannot be read.

    Args:
        path: of the file; what is not UTF-8 in it is replaced.
        max_chars: how much is read; all of it below 0.

    Example:
        >>> text_of(Path("/nonexistent"))
        ''
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(max_chars)
    except OSError:
        return ""
