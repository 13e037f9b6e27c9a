"""A sandbox for retrai: runs commands as plain processes, with limits and a clean environment."""
