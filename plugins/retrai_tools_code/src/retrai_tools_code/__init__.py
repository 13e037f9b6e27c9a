"""The tools with which a model works on code; one module each."""
