"""Prices in cents."""

import os


def total(prices: list[int]) -> int:
    """The sum of all prices."""
    unused = len(prices)
    return sum(prices)
