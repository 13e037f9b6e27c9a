"""Discounts, tax and shipping."""

from shop.money import percent_of

# (from this many cents on, per cent off), the best last
DISCOUNTS = [(50_00, 5), (100_00, 10), (250_00, 15)]
# (up to this many grams, cents)
SHIPPING = [(500, 2_90), (2_000, 4_90), (10_000, 9_90)]
FREE_SHIPPING_FROM = 150_00


class TooHeavy(ValueError):
    """Heavier than any parcel we send."""


def discount(subtotal):
    """The discount on an order, in cents."""
    best = 0
    for threshold, percent in DISCOUNTS:
        if subtotal >= threshold:
            best = percent
    return percent_of(subtotal, best)


def shipping(weight, subtotal):
    """What sending `weight` grams costs; large orders are sent free."""
    if subtotal >= FREE_SHIPPING_FROM:
        return 0
    for limit, price in SHIPPING:
        if weight <= limit:
            return price
    raise TooHeavy(f"{weight} g")


def tax(amount, percent=20):
    """The tax on an amount, in cents."""
    return percent_of(amount, percent)
