"""Plugins that keep their contract, and others that break one rule each."""
