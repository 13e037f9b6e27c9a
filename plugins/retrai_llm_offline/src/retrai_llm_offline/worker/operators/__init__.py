"""The edits that the search knows, one small module for each part of the language."""
