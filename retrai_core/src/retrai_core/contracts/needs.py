"""The needs that a plugin can declare."""

from __future__ import annotations

from typing import Literal

Need = Literal["read", "write", "run", "network"]
"""`read` and `write` the project's files, `run` programs, use the `network`.

`secrets:NAME` (an environment variable) may stand in a manifest beside these.
"""
