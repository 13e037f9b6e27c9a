"""Goal perf-check: a command is fast enough, and prints what it printed."""
