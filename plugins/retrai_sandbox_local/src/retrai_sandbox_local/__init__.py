"""A sandbox for retrai: the user's own processes, with limits and a clean environment."""
