"""Tools of MCP servers for retrai."""
