"""What a run will be built from, once everything about it is decided."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel

from .contracts.agent import Agent
from .contracts.goal import GoalBase
from .contracts.llm import LLMProvider
from .contracts.memory import MemoryStore
from .contracts.sandbox import Sandbox
from .contracts.tool import Tool
from .plugins.catalog import Catalog
from .plugins.record import PluginRecord
from .run_config import RunConfig
from .workspace.interpreter import Interpreter

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Part(Generic[T_co]):
    """A chosen plugin: its record, its class, and its validated options."""

    record: PluginRecord
    cls: type[T_co]
    options: BaseModel


@dataclass(frozen=True)
class Notice:
    """Something that the user should know about what was chosen."""

    level: Literal["info", "warning"]
    message: str


@dataclass(kw_only=True)
class GroundChoice:
    """What everything that looks at a project is built from.

    Attributes:
        config: the configuration, with what was found filled in.
        sandboxes: the sandboxes to try, the strictest first.
        interpreter: the Python that runs the project's code.
        notices: said at the start.
        attended: as `RunContext.attended`.
    """

    config: RunConfig
    catalog: Catalog
    sandboxes: list[Part[Sandbox]]
    interpreter: Interpreter
    notices: list[Notice] = field(default_factory=list[Notice])
    attended: bool = True


@dataclass(kw_only=True)
class CheckChoice(GroundChoice):
    """What a check alone is built from; the goal is filled in."""

    goal: Part[GoalBase]

    @property
    def goal_name(self) -> str:
        """The goal's name: the plugin's, or that of a check of the project's own."""
        return self.config.goal or self.goal.record.name


@dataclass(kw_only=True)
class ModelChoice(GroundChoice):
    """What asking a model about a project is built from; the model is filled in."""

    provider: Part[LLMProvider]


@dataclass(kw_only=True)
class Choice(GroundChoice):
    """Everything that one run will be built from; goal and model are filled in.

    Attributes:
        goal: None where the agent needs none.
        goal_evidence: why this goal, when it was found from the project.
        input: what the agent is given.
    """

    goal: Part[GoalBase] | None
    goal_evidence: str
    input: BaseModel
    provider: Part[LLMProvider]
    agent: Part[Agent]
    tools: list[Part[Tool]]
    memory: Part[MemoryStore] | None

    @property
    def goal_name(self) -> str:
        """The goal's name: the plugin's, or that of a check of the project's own; may be empty."""
        return "" if self.goal is None else self.config.goal or self.goal.record.name

    def versions(self) -> dict[str, str]:
        """Version by distribution of every plugin that the run uses."""
        parts = [self.provider, self.agent, *self.tools, *self.sandboxes]
        records = [part.record for part in parts]
        if self.goal is not None:
            records.append(self.goal.record)
        if self.memory is not None:
            records.append(self.memory.record)
        return {record.dist: record.version for record in sorted(records, key=lambda r: r.dist)}
