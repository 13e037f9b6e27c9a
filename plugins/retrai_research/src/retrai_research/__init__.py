"""An agent that answers questions about a project's code, with checked citations."""
