"""An order: lines of products, and what they come to."""

from shop import pricing
from shop.money import format_cents, split_evenly


class Order:
    """Products of a catalog, reserved in a stock."""

    def __init__(self, catalog, stock):
        self.catalog = catalog
        self.stock = stock
        self.lines = {}

    def add(self, number, quantity=1):
        """Add some of a product; nothing is added when they are not in stock."""
        self.catalog.get(number)
        self.stock.reserve(number, quantity)
        self.lines[number] = self.lines.get(number, 0) + quantity

    def remove(self, number):
        """Take a product off the order and give it back to the stock."""
        self.stock.release(number, self.lines.pop(number))

    def subtotal(self):
        return sum(self.catalog.get(n).price * quantity for n, quantity in self.lines.items())

    def weight(self):
        return sum(self.catalog.get(n).weight * quantity for n, quantity in self.lines.items())

    def total(self):
        """What the customer pays: the discounted goods with tax on them, and shipping."""
        subtotal = self.subtotal()
        discounted = subtotal - pricing.discount(subtotal)
        taxed = discounted + pricing.tax(subtotal)
        return taxed + pricing.shipping(self.weight(), subtotal)

    def payments(self, months):
        """The total in monthly payments."""
        return split_evenly(self.total(), months)

    def invoice(self):
        """One line a product, and the total."""
        rows = []
        for number, quantity in sorted(self.lines.items()):
            product = self.catalog.get(number)
            rows.append(f"{quantity} x {product.name}: {format_cents(product.price * quantity)}")
        rows.append(f"total: {format_cents(self.total())}")
        return "\n".join(rows)
