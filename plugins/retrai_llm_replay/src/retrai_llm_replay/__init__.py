"""Drives a run with the decisions of a recorded one: the model `replay:FILE`."""
