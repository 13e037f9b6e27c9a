"""Goal api-test: every endpoint of an HTTP API answers as it should."""
