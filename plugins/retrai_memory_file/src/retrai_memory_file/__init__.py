"""A memory store in one file of the project: `.retrai/memory.json`."""
