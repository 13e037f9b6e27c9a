"""Orders: how many of each item."""

from dataclasses import dataclass, field

from .prices import price_of


@dataclass
class Order:
    """What somebody wants to buy."""

    items: dict[str, int] = field(default_factory=dict)

    def total(self) -> int:
        """What it comes to, in cents."""
        return sum(price_of(item) * count for item, count in self.items.items())

    def receipt(self) -> str:
        """One line an item, and the total."""
        lines = [f"{count} x {item}" for item, count in self.items.items()]
        return "\n".join([*lines, "total: " + self.total()])
