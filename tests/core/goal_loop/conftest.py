"""A project whose goal is a few texts, and runs in it driven by a scripted model."""

from __future__ import annotations

from ..running import project, runs

__all__ = ["project", "runs"]
