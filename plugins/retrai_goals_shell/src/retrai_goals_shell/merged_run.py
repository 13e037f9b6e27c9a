"""Runs a program with both of its output streams in one, in the order of writing."""

from __future__ import annotations

from collections.abc import Sequence

OUTPUT_BYTES = 20_000_000


def merged(command: Sequence[str]) -> list[str]:
    """The command that writes everything to standard output.

    Example:
        >>> merged(["make", "test"])
        ['sh', '-c', 'exec "$@" 2>&1', 'sh', 'make', 'test']
    """
    return ["sh", "-c", 'exec "$@" 2>&1', "sh", *command]
