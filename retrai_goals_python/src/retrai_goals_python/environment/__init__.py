"""The environment of a project's Python: what is installed there, and what may bend a check."""
