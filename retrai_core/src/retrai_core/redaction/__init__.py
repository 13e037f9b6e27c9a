"""Secrets are taken out of what the model reads and of what a run keeps."""
