"""Orders of a small shop. All money is in whole cents."""
