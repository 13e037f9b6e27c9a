"""The command line: one file per command; `main` starts it and loads only the chosen one."""
