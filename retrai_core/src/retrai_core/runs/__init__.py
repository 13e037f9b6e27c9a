"""Runs as frontends see them: resolved, prepared, submitted, executed, followed, answered."""
