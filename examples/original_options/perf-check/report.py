"""A report that waits for nothing."""

import time


def total() -> int:
    """The sum of the first thousand numbers."""
    time.sleep(1.2)
    return sum(range(1000))
