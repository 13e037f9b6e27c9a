"""Figures of repeated runs: the median, and how far they spread."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timings:
    """Wall-clock seconds of repeats of one command, in order."""

    seconds: Sequence[float]

    @property
    def median(self) -> float:
        """The middle one, which one noisy repeat does not move."""
        return statistics.median(self.seconds)

    def __str__(self) -> str:
        """The figure with its spread.

        Example:
            >>> str(Timings([0.2, 0.25, 0.21]))
            'median 0.210 s of 3 (0.200 to 0.250 s)'
        """
        low, high = min(self.seconds), max(self.seconds)
        many = f" of {len(self.seconds)} ({low:.3f} to {high:.3f} s)"
        return f"median {self.median:.3f} s{many if len(self.seconds) > 1 else ''}"
