"""A small shop: what things cost, and what an order comes to."""
