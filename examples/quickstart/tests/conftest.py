import pytest

from shop.catalog import Catalog, Product
from shop.orders import Order
from shop.stock import Stock


@pytest.fixture
def catalog():
    return Catalog(
        [
            Product("b1", "blue bowl", price=12_00, weight=400),
            Product("b2", "big blue bowl", price=30_00, weight=900),
            Product("t1", "teapot", price=45_50, weight=1_100),
            Product("a1", "anvil", price=60_00, weight=12_000),
        ]
    )


@pytest.fixture
def stock():
    return Stock({"b1": 10, "b2": 8, "t1": 4, "a1": 3})


@pytest.fixture
def order(catalog, stock):
    return Order(catalog, stock)
