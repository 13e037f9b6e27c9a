"""`retrai tui`: runs in a terminal, full-screen."""
