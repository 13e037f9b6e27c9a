"""Short, safe words for one line of a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrai_core.cli.render.words import cost, count, one_line, outcome_counts, seconds


@given(st.text(), st.integers(3, 200))
def test_one_line_fits_and_never_steers_the_terminal(text: str, width: int) -> None:
    line = one_line(text, width)
    assert len(line) <= width
    assert not any(unicodedata.category(char) == "Cc" for char in line)


def test_one_line_takes_the_first_that_says_anything() -> None:
    assert one_line("\n\n  first \nsecond", 80) == "first"


def test_a_cut_line_says_so() -> None:
    assert one_line("0123456789", 8) == "01234..."


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.04, "0.0 s"), (59.94, "59.9 s"), (60, "1 min 00 s"), (125, "2 min 05 s")],
)
def test_durations_have_their_unit(value: float, shown: str) -> None:
    assert seconds(value) == shown


def test_one_is_not_plural() -> None:
    assert (count(1, "token"), count(12_000, "token")) == ("1 token", "12,000 tokens")


def test_an_unknown_price_is_not_called_free() -> None:
    assert cost(None, 100) == "cost not known"
    assert cost(None, 0) == "no cost"
    assert cost(0.0123, 100) == "$0.0123"
    assert cost(1234.5, 100) == "$1,234.50"


def test_failures_come_first() -> None:
    assert outcome_counts({"passed": 3, "failed": 1, "odd": 2}) == "1 failed, 3 passed, 2 odd"
