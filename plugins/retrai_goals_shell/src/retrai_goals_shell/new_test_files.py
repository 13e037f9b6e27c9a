"""Test files that a run added, taken away for one check: others must not pass by what they do.

A file of tests is compiled into the same program as the others in Go, and in Rust it may change
what was built for them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def taken_away(
    copy: Path, paths: Sequence[str], stays: Callable[[str], bool]
) -> Generator[list[str]]:
    """Take files out of a copy for a while; those that were taken.

    Args:
        copy: a copy of the project.
        paths: relative to it.
        stays: which of them stay after all.
    """
    taken = [path for path in paths if not stays(path)]
    for path in taken:
        (copy / path).rename(_aside(copy / path))
    try:
        yield taken
    finally:
        for path in taken:
            _aside(copy / path).rename(copy / path)


def _aside(path: Path) -> Path:
    # No tool chain takes a name that ends so for a source.
    return path.with_name(f"{path.name}.away")
