"""Fixes Python projects by search, without a key or a network: the model `offline`."""
