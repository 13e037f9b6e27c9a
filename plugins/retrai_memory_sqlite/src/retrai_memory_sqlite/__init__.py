"""A memory store for retrai: what worked in all of a user's projects, in one SQLite file."""
