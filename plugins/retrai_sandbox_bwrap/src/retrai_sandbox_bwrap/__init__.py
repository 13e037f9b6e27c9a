"""A sandbox for retrai: commands under bubblewrap."""
