"""The kinds of plugins, their entry-point groups, and how distributions are compared."""

from __future__ import annotations

import re
from typing import Literal, get_args

Kind = Literal[
    "goal",
    "tool",
    "llm",
    "memory",
    "frontend",
    "agent",
    "sandbox",
    "store",
    "engine",
    "sink",
    "hook",
    "hookspec",
]
Status = Literal["ok", "broken", "incompatible", "blocked", "shadowed", "unloaded"]

GROUP_OF: dict[Kind, str] = {
    "goal": "retrai.goals",
    "tool": "retrai.tools",
    "llm": "retrai.llms",
    "memory": "retrai.memory",
    "frontend": "retrai.frontends",
    "agent": "retrai.agents",
    "sandbox": "retrai.sandboxes",
    "store": "retrai.stores",
    "engine": "retrai.engines",
    "sink": "retrai.sinks",
    "hook": "retrai.hooks",
    "hookspec": "retrai.hookspecs",
}
KIND_OF: dict[str, Kind] = {group: kind for kind, group in GROUP_OF.items()}
KINDS: tuple[Kind, ...] = tuple(GROUP_OF)
STATUSES: tuple[Status, ...] = get_args(Status)
CALLED_ALL: frozenset[Kind] = frozenset({"sink", "hook", "hookspec"})
"""Nobody chooses one of these by its name: every one that is installed is used."""
_PREFIX = "retrai."
CORE_DIST = "retrai-core"
_SEPARATORS = re.compile(r"[-_.]+")


def table_of(kind: Kind) -> str:
    """The manifest's table of a kind: its group without the prefix (`goals`)."""
    return GROUP_OF[kind].removeprefix(_PREFIX)


def normalised(dist: str) -> str:
    """A distribution's name as PyPA compares it: `My_Plugin` and `my.plugin` are one."""
    return _SEPARATORS.sub("-", dist).lower()
