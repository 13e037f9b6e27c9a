"""Decides whether a goal is met, in a way that the agent cannot bend."""
