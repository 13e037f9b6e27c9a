"""A state folder of each test's own, and the toy plugin that the CLI's tests use."""

from __future__ import annotations

from ..cli.conftest import own_folders, project, retrai, toy

__all__ = ["own_folders", "project", "retrai", "toy"]
