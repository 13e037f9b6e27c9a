import pytest

from shop.stock import OutOfStock


def test_reserving_leaves_fewer_free(stock):
    stock.reserve("b1", 3)
    assert stock.free("b1") == 7


def test_the_last_ones_can_be_reserved(stock):
    stock.reserve("t1", 4)
    assert stock.free("t1") == 0


def test_more_than_is_free_is_refused(stock):
    with pytest.raises(OutOfStock):
        stock.reserve("t1", 5)


def test_nothing_is_free_of_an_unknown_product(stock):
    with pytest.raises(OutOfStock):
        stock.reserve("zz", 1)


def test_a_refused_reservation_changes_nothing(stock):
    with pytest.raises(OutOfStock):
        stock.reserve("t1", 99)
    assert stock.free("t1") == 4


def test_released_items_are_free_again(stock):
    stock.reserve("b2", 5)
    stock.release("b2", 2)
    assert stock.free("b2") == 5


def test_no_more_is_released_than_was_reserved(stock):
    stock.reserve("b2", 1)
    with pytest.raises(ValueError):
        stock.release("b2", 2)


def test_shipped_items_leave_the_shelf(stock):
    stock.reserve("a1", 3)
    stock.ship("a1", 3)
    assert stock.free("a1") == 0


def test_what_runs_low_is_reordered(stock):
    assert stock.to_reorder(4) == ["a1"]
