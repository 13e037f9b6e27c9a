"""Starts processes with limits and a clean environment, and leaves none behind.

Nothing is imported here: keepers run without installed packages.
"""
