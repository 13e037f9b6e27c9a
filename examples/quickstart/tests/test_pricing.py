import pytest

from shop.pricing import TooHeavy, discount, shipping, tax


@pytest.mark.parametrize(
    ("subtotal", "expected"),
    [(49_99, 0), (50_00, 2_50), (100_00, 10_00), (249_99, 25_00), (300_00, 45_00)],
)
def test_the_discount_grows_with_the_order(subtotal, expected):
    assert discount(subtotal) == expected


def test_shipping_depends_on_the_weight():
    assert [shipping(weight, 10_00) for weight in (500, 501, 2_001)] == [2_90, 4_90, 9_90]


def test_large_orders_are_sent_free():
    assert shipping(50_000, 150_00) == 0


def test_what_is_too_heavy_is_refused():
    with pytest.raises(TooHeavy):
        shipping(10_001, 60_00)


def test_tax_is_a_fifth():
    assert tax(45_50) == 9_10
