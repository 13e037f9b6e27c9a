"""Goals that a shell line decides: shell-goal and make-test, and what guards such a line."""
