"""Every hosted or local model that LiteLLM supports.

LiteLLM and the client libraries run in a process of their own (`process`, `server`): importing them
takes seconds, which pass on another core while a run's first check is under way.
"""

from __future__ import annotations

__version__ = "0.1.0"
