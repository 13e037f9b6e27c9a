"""A memory store for retrai: one SQLite file with full-text recall."""
