"""The data of runs: the store `files`, and snapshots of the project."""
