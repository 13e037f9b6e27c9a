"""Starts processes with limits and a clean environment, and leaves none behind.

Nothing is imported here: the helper process runs without installed packages.
"""
