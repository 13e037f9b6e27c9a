"""Decides whether a goal passes, in a way that the agent cannot influence."""
