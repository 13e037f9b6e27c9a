"""Every hosted or local model that LiteLLM speaks to.

Importing this package imports neither LiteLLM nor a client library: that takes seconds, and happens
in a thread while a run's first check is under way.
"""

from __future__ import annotations

__version__ = "0.1.0"
