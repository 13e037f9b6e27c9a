import pytest

from shop.money import format_cents, percent_of, split_evenly


def test_percent_is_rounded_half_up():
    assert percent_of(10, 5) == 1
    assert percent_of(9, 5) == 0


def test_percent_of_nothing_is_nothing():
    assert percent_of(0, 20) == 0


def test_an_amount_that_divides_is_split_into_equal_parts():
    assert split_evenly(900, 3) == [300, 300, 300]


def test_left_over_cents_go_to_the_first_parts():
    assert split_evenly(1001, 3) == [334, 334, 333]


def test_no_cent_is_lost_in_splitting():
    assert sum(split_evenly(9_999, 7)) == 9_999


def test_zero_shares_are_refused():
    with pytest.raises(ValueError):
        split_evenly(100, 0)


def test_cents_are_padded():
    assert format_cents(1205) == "12.05"


def test_a_negative_amount_has_its_sign_in_front():
    assert format_cents(-150) == "-1.50"
