"""What lies on the shelves, and what of it is promised to someone."""


class OutOfStock(Exception):
    """More was asked for than is free."""


class Stock:
    """Quantities by product number."""

    def __init__(self, quantities=None):
        self._on_shelf = dict(quantities or {})
        self._reserved = {}

    def free(self, number):
        """How many can still be promised."""
        return self._on_shelf.get(number, 0) - self._reserved.get(number, 0)

    def reserve(self, number, quantity):
        """Promise some to an order; the last ones may go too."""
        if quantity < 1:
            raise ValueError("reserve at least one")
        if quantity >= self.free(number):
            raise OutOfStock(f"{number}: {quantity} wanted, {self.free(number)} free")
        self._reserved[number] = self._reserved.get(number, 0) + quantity

    def release(self, number, quantity):
        """Take a promise back."""
        held = self._reserved.get(number, 0)
        if quantity > held:
            raise ValueError(f"{number}: only {held} are reserved")
        self._reserved[number] = held - quantity

    def ship(self, number, quantity):
        """Reserved items leave the shelf."""
        self.release(number, quantity)
        self._on_shelf[number] -= quantity

    def to_reorder(self, minimum):
        """Numbers of which fewer than `minimum` are free, sorted."""
        return sorted(number for number in self._on_shelf if self.free(number) < minimum)
