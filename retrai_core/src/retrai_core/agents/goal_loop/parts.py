"""What the nodes of the loop use; passed in the graph's configuration, not in the state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast

from langchain_core.runnables import RunnableConfig

from ...contracts.context import RunContext
from ...storage.snapshots import Snapshots
from ...verification.behaviour import NEIGHBORS, Observation
from ...verification.guard import Guard
from ...verification.new_tests import NewTests
from ..counted_model import AgentModel
from ..spending import Spending
from ..tool_call import ToolCaller

if TYPE_CHECKING:
    from ...verification.verifier import Verifier


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The result of a check of one tree, with everything that `evaluate` needs.

    Attributes:
        tree: a hash of the tree; empty where nothing was asked.
        outcome: `failed` as long as the goal does not hold.
        reason: one line for people.
        suspect_of: what the check said, where every case passes and a suspicion stands against it.
    """

    tree: str
    outcome: Literal["achieved", "tampered", "flaky", "failed"] = "failed"
    reason: str = ""
    suspect_of: str = ""


@dataclass
class LoopParts:
    """The parts of one run that its nodes use.

    Attributes:
        context: the run, with its tools and its model.
        guard: decides what counts.
        caller: makes the tool calls.
        snapshots: remembers trees.
        model: the run's, with its tools.
        system_prompt: the first message of every request.
        spending: what the run's model calls may use and have used.
        max_tampering: how many refused changes end the run.
        refusals_counted: how many of the guard's refusals the state's `refused` already holds.
        findings: what the run added that is worth a look, for its record.
        verifier: remembers verdicts by the tree they were given on.
        neighbors: at most so many calls near the recorded ones are made.
        observed: by tree, what the cases that turned green saw.
        new_tests: by tree, what came of the tests that the run added on the sources as they were.
        unseen: why the tree as it stands could not be kept, and so not be looked through; empty
            when it could.
        concluded: the latest word of the check on a tree; how the run ends is decided by it, and
            not by what a node writes into the state.
        approved: suspicions in spite of which a person took a verdict as achieved.
    """

    context: RunContext
    guard: Guard
    caller: ToolCaller
    snapshots: Snapshots
    verifier: Verifier
    model: AgentModel
    system_prompt: str
    spending: Spending
    max_tampering: int = 3
    neighbors: int = NEIGHBORS
    observed: dict[str, Observation] = field(default_factory=dict[str, Observation])
    new_tests: dict[str, NewTests] = field(default_factory=dict[str, NewTests])
    refusals_counted: int = 0
    findings: list[str] = field(default_factory=list[str])
    unseen: str = ""
    concluded: Conclusion | None = None
    approved: set[str] = field(default_factory=set[str])


def parts_of(config: RunnableConfig) -> LoopParts:
    """The parts that the run manager put into the graph's configuration."""
    return cast("LoopParts", config.get("configurable", {})["parts"])
