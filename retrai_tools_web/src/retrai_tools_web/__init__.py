"""Web tools for retrai: search the web and read a page."""
