"""Tools for the web: search it, and read a page."""
