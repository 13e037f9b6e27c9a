"""Runs as frontends see them: prepared, submitted, followed, answered."""
