"""What the tests of a shell line compare, and contradictions of it."""
