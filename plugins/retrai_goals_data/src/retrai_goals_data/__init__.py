"""A goal pack for retrai: SQL speed and model quality, with data tools."""
