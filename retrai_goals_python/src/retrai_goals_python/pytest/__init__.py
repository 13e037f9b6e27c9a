"""Goal pytest: every test passes; and what guards a project's suite."""
