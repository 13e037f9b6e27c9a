"""Other values in place of those that a test expects."""
