"""The gate `permissions`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from retrai_core import GateDecision, RunContext, ToolCall, hookimpl

from .rules import Rule, may_match, surely_matches


class PermissionGate:
    """Decides by the `permissions:` section: deny beats ask, ask beats allow, then `default`.

    This is policy for what the model asks for, not a wall: a program that may run can do whatever
    its sandbox lets it do.
    """

    @hookimpl
    def before_tool(self, call: ToolCall, context: RunContext) -> GateDecision | None:
        """What the rules say of the call; no opinion where there are none."""
        section = context.permissions
        if not section:
            return None
        for verdict in ("deny", "ask"):
            for rule in _about(section.get(verdict, ()), call):
                if may_match(rule, call.args):
                    return _decided(verdict, f"`{rule.text}` under permissions: {verdict}")
        allowing = list(_about(section.get("allow", ()), call))
        if allowing and surely_matches(allowing, call.args):
            return GateDecision("allow")
        return _decided(section.get("default", "allow"), "no rule of permissions allows it")


def _about(rules: Iterable[str], call: ToolCall) -> Iterable[Rule]:
    return (r for r in map(Rule.parse, rules) if r.is_about(call.name, call.needs))


def _decided(verdict: Literal["allow", "ask", "deny"] | str, reason: str) -> GateDecision:
    if verdict == "allow":
        return GateDecision("allow")
    return GateDecision("ask" if verdict == "ask" else "deny", reason)
