"""A goal pack for retrai: shell commands, make, cargo, go and speed."""
