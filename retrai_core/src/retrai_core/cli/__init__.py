"""The command line: one file a command; `main` starts it, and loads only what is asked for."""
