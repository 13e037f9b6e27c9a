import pytest

from shop.stock import OutOfStock


def test_a_new_order_is_empty(order):
    assert order.subtotal() == 0


def test_the_subtotal_counts_quantities(order):
    order.add("b1", 2)
    order.add("t1")
    assert order.subtotal() == 69_50


def test_weights_add_up(order):
    order.add("b1", 2)
    order.add("b2")
    assert order.weight() == 1_700


def test_a_small_order_pays_tax_and_shipping(order):
    order.add("b1", 2)
    assert order.total() == 24_00 + 4_80 + 4_90


def test_tax_is_paid_on_the_discounted_price(order):
    order.add("b2", 2)
    assert order.total() == 57_00 + 11_40 + 4_90


def test_a_large_order_is_discounted_and_sent_free(order):
    order.add("b2", 6)
    assert order.total() == 162_00 + 32_40


def test_the_same_product_twice_is_one_line(order):
    order.add("b1", 2)
    order.add("b1", 3)
    assert order.lines == {"b1": 5}


def test_an_order_can_take_all_that_is_left(order):
    order.add("t1", 3)
    order.add("t1", 1)
    assert order.lines == {"t1": 4}


def test_what_is_not_in_stock_is_not_added(order):
    with pytest.raises(OutOfStock):
        order.add("t1", 5)
    assert order.lines == {}


def test_removed_products_go_back_to_the_stock(order, stock):
    order.add("b1", 4)
    order.remove("b1")
    assert stock.free("b1") == 10


def test_monthly_payments_differ_by_one_cent_at_most(order):
    order.add("b1")
    assert order.payments(3) == [5_77, 5_77, 5_76]


def test_the_invoice_lists_products_and_the_total(order):
    order.add("b1", 2)
    order.add("t1", 1)
    assert order.invoice() == "2 x blue bowl: 24.00\n1 x teapot: 45.50\ntotal: 84.12"
