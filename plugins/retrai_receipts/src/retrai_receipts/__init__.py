"""Receipts: signed statements of what was checked, with which outcome, on which tree."""
