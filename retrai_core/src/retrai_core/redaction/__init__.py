"""Removes secrets from what the model reads and from what a run stores."""
