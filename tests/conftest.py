"""Decides which parts of the suite fit this environment."""

from __future__ import annotations

from importlib.util import find_spec

# Tox's `core` environment has no plugin, and runs a copy of these folders.
collect_ignore = ["core_alone"] if find_spec("retrai_goals_python") else []
