"""What the shop sells."""


class UnknownProduct(KeyError):
    """No product has this number."""


class Product:
    """One product: its number, its name, its price in cents, its weight in grams."""

    def __init__(self, number, name, price, weight):
        if price < 0:
            raise ValueError(f"{name} has a negative price")
        self.number = number
        self.name = name
        self.price = price
        self.weight = weight


class Catalog:
    """Products by number."""

    def __init__(self, products=()):
        self._products = {}
        for product in products:
            self.add(product)

    def add(self, product):
        if product.number in self._products:
            raise ValueError(f"number {product.number} is taken")
        self._products[product.number] = product

    def get(self, number):
        try:
            return self._products[number]
        except KeyError:
            raise UnknownProduct(number) from None

    def search(self, words):
        """Products whose name has every one of the words, by name."""
        wanted = words.lower().split()
        found = [p for p in self._products.values() if all(w in p.name.lower() for w in wanted)]
        return sorted(found, key=lambda product: product.name)
