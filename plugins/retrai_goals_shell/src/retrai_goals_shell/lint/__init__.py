"""Goal lint: linters find nothing."""
