"""Figures of repeated runs: the median, and how far they spread."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median


def with_spread(seconds: Sequence[float]) -> str:
    """The median of repeats, which one noisy repeat does not move, and their range.

    Example:
        >>> with_spread([0.2, 0.25, 0.21])
        'median 0.210 s of 3 (0.200 to 0.250 s)'
    """
    many = f" of {len(seconds)} ({min(seconds):.3f} to {max(seconds):.3f} s)"
    return f"median {median(seconds):.3f} s{many if len(seconds) > 1 else ''}"
