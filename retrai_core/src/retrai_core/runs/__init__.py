"""What a run leaves behind, in its own folder outside the project."""
