"""Settings: their model, their files, and the sources that they are merged from."""
