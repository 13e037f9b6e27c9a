"""Speaks to MCP servers: their tools become the run's."""
