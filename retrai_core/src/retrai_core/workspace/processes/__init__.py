"""Processes: started with limits and a clean environment, and none left behind.

Nothing is imported here: the helper process runs without what is installed.
"""
