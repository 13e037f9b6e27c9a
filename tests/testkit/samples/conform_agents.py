"""The contract of agents that need no goal, held by a good one and broken by the others."""

from __future__ import annotations

import sample_agents

from retrai_testkit import AgentConformance


class TestGoodAnswer(AgentConformance):
    plugin = sample_agents.GoodAnswer


class TestCallsToolsItself(AgentConformance):
    plugin = sample_agents.CallsToolsItself


class TestAnyInput(AgentConformance):
    plugin = sample_agents.AnyInput
