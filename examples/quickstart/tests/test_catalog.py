import pytest

from shop.catalog import Product, UnknownProduct


def test_a_product_is_found_by_its_number(catalog):
    assert catalog.get("t1").name == "teapot"


def test_an_unknown_number_is_an_error(catalog):
    with pytest.raises(UnknownProduct):
        catalog.get("zz")


def test_a_number_is_given_once(catalog):
    with pytest.raises(ValueError):
        catalog.add(Product("t1", "other teapot", price=1, weight=1))


def test_search_wants_every_word_and_sorts_by_name(catalog):
    assert [p.number for p in catalog.search("bowl BLUE")] == ["b2", "b1"]


def test_a_negative_price_is_refused():
    with pytest.raises(ValueError):
        Product("x", "gift", price=-1, weight=1)
