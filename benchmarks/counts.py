"""Numbers on a benchmark's command line."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    """A number of runs, rounds or files: at least 1.

    Raises:
        ArgumentTypeError: it is none.
    """
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is too few, at least 1 is needed")
    return number
