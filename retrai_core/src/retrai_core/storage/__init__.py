"""What runs leave: the store `files`, and snapshots of the project."""
