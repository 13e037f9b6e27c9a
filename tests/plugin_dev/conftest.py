"""Distributions as an installer leaves them, as the tests of the core's catalog use them."""

from __future__ import annotations

from ..core.plugins.conftest import child_environment, project, retrai, site

__all__ = ["child_environment", "project", "retrai", "site"]
