"""A tool gate: decides by the rules of `permissions:` which tool calls may run."""
