"""Names of plugins, and words in their place, that have a meaning in the core."""

from __future__ import annotations

OFFLINE = "offline"
"""The model, and its provider, where none was chosen and no key is set."""
LITELLM = "litellm"
"""The provider of every hosted model."""
REPLAY = "replay:"
"""Begins the name of a model that repeats a recorded run."""
NO_MEMORY = "none"
AUTO_SANDBOX = "auto"
STRICT_SANDBOX = "strict"
"""The word for: a sandbox with walls, or no run at all."""
WALLED_SANDBOX = "bwrap"
LOCAL_SANDBOX = "local"
SANDBOXES_TO_TRY = (WALLED_SANDBOX, LOCAL_SANDBOX)
"""What `auto` tries where it is installed, the strictest first."""
ALWAYS_THERE = "report_impossible"
"""The tool that every run has."""
MCP = "mcp"
"""The hook that offers the tools of the servers under `mcp:`."""
