"""Goal go-test: every Go test passes."""
