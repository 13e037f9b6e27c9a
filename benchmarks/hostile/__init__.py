"""Plugins that do what they must not, and what their hosts make of them."""
