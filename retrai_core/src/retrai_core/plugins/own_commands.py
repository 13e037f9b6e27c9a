"""The names of retrai's own commands, which a frontend may extend but not replace.

They are data, since a list imports no command; a test compares them with the commands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .record import PluginRecord

OWN_COMMANDS: Mapping[str, frozenset[str] | None] = {
    "run": None,
    "init": None,
    "demo": None,
    "runs": frozenset(
        {"answer", "cancel", "diff", "follow", "list", "prune", "resume", "show", "undo"}
    ),
    "plugins": frozenset({"disable", "enable", "list", "show"}),
    "goals": frozenset({"list", "show"}),
    "agents": frozenset({"graph", "list"}),
    "tools": frozenset({"list"}),
    "models": None,
    "memory": frozenset({"forget", "list"}),
    "config": frozenset({"show"}),
    "completion": None,
}
"""By name, the names of its subcommands; None where it can have none."""


def judge_commands(frontends: Iterable[PluginRecord]) -> None:
    """Mark those `broken` whose command nobody could ever type."""
    usable = [record for record in frontends if record.status in ("unloaded", "ok")]
    for record in usable:
        if problem := _problem(record, usable):
            record.status, record.error = "broken", problem


def _problem(record: PluginRecord, frontends: Iterable[PluginRecord]) -> str:
    parent, name = record.parent, record.name
    if not parent:
        return f"`retrai {name}` is a command of retrai's own" if name in OWN_COMMANDS else ""
    if parent not in OWN_COMMANDS:
        known = any(each.name == parent and not each.parent for each in frontends)
        missing = f"its parent is `{parent}`, and there is no command `retrai {parent}`"
        return "" if known else missing
    subcommands = OWN_COMMANDS[parent]
    if subcommands is None:
        return f"its parent is `{parent}`, and `retrai {parent}` has no subcommands"
    is_taken = name in subcommands
    return f"`retrai {parent} {name}` is a command of retrai's own" if is_taken else ""
