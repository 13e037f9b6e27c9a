"""An agent for retrai that answers a question about a project."""
