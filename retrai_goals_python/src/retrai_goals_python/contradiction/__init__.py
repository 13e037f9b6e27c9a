"""Changes what the tests in a copy of a project expect: one that still passes checks nothing."""

from .suite import Failed, contradict_tests

__all__ = ["Failed", "contradict_tests"]
