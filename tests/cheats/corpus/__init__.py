"""Scripted trajectories: ways to make a check pass without doing the work, and honest work."""
