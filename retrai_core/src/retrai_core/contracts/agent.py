"""An agent: builds the LangGraph graph that a run executes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal

from pydantic import BaseModel, ConfigDict

from .context import RunContext
from .models import OptionsT, TakesModels

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph

    from .record import Limits

_NODES_PER_ITERATION = 4
_NODES_BESIDE = 100


class AgentOptions(BaseModel):
    """Base of an agent's options; they come from `agents: {AGENT: {...}}`, without
    the limits there (`max_iterations`, say), which are the run's."""

    model_config = ConfigDict(extra="forbid")


class AgentInput(BaseModel):
    """Base of an agent's input, such as a task or a question. Empty by default."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class AgentResult:
    """The result of an agent.

    Attributes:
        status: how it ended. Of a run with a goal `answered` says only that the agent is done: the
            check decides.
        reason: one line for people.
        output: the answer, text for people.
        data: the same and more for programs; a JSON object.
    """

    status: Literal["answered", "failed", "stuck", "budget"]
    reason: str = ""
    output: str = ""
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class StateUpdate:
    """A change of the state before a resumed run continues.

    Attributes:
        values: keys of the state and their new values.
        as_node: go on as if this node had just given the values, so with what follows it; left out,
            the graph goes on where it stopped. Where it had ended, nothing follows without it. A
            graph that has no node of this name begins again.
    """

    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    as_node: str = ""


class Agent(TakesModels, ABC, Generic[OptionsT]):
    """Builds the graph that a run executes, over its own state type.

    A node reaches the run through `self.context`, never through the state: `model()`,
    `call_tools()`, `ask()`, `progress()`, `input`. Let one node ask the model and the next one call
    the tools: the output of a finished node is saved, so a run that is killed in a tool does not
    ask again. LangGraph's `interrupt()` is not used.

    Example:
        >>> class Echo(Agent):
        ...     name = "echo"
        ...     requires_goal = False
        ...     def build_graph(self, checkpointer):
        ...         from langgraph.graph import END, START, StateGraph
        ...         graph = StateGraph(dict)
        ...         graph.add_node("say", lambda state: {"said": "nothing to do"})
        ...         graph.add_edge(START, "say")
        ...         graph.add_edge("say", END)
        ...         return graph.compile(checkpointer=checkpointer)
        ...     async def initial_state(self, context, previous):
        ...         return {"said": ""}
        ...     def result(self, state):
        ...         return AgentResult("answered", output=state["said"])
        >>> Echo(AgentOptions(), context=None).result({"said": "hello"}).output
        'hello'
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    needs: ClassVar[frozenset[str]] = frozenset()
    requires_goal: ClassVar[bool] = True
    """A run needs a goal; without one it has no baseline, no verification and no verdict."""
    default_tools: ClassVar[tuple[str, ...]] = ()
    """The tools of a run without a goal, beside those that are always offered."""
    default_model: ClassVar[str | None] = None
    """The model where none was chosen and no key for the usual one is set."""
    default_max_iterations: ClassVar[int | None] = None
    """The run's `max_iterations` where no source sets it."""
    Input: type[BaseModel] = AgentInput
    """What a caller gives; validated, it is `context.input`."""
    Options: type[AgentOptions] = AgentOptions

    def __init__(self, options: OptionsT, context: RunContext) -> None:
        self.options = options
        self.context = context

    @abstractmethod
    def build_graph(
        self, checkpointer: BaseCheckpointSaver[Any]
    ) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The compiled graph; `checkpointer` makes it resumable."""

    @abstractmethod
    async def initial_state(
        self, context: RunContext, previous: AgentResult | None
    ) -> Mapping[str, Any]:
        """What the graph begins with.

        Args:
            context: the run; `context.input` is what the caller gave.
            previous: what the run came to that this one continues; None where it continues none.
        """

    def resume(self, state: Mapping[str, Any], context: RunContext) -> StateUpdate | None:
        """What changes before a run goes on that was stopped, or that used up a limit.

        Args:
            state: the latest that was kept.
            context: the run, with the limits that hold from now on; `context.pending` names the
                nodes that are still to run, and is empty where the graph had ended.

        Returns:
            the change; None where the graph goes on as it is.
        """
        return None

    def recursion_limit(self, limits: Limits) -> int:
        """How many nodes the graph may run, each time that the run is started or resumed.

        Args:
            limits: the run's limits.
        """
        return _NODES_PER_ITERATION * (limits.max_iterations or 0) + _NODES_BESIDE

    @abstractmethod
    def result(self, state: Mapping[str, Any]) -> AgentResult:
        """What the agent came to, from the state in which its graph ended."""

    def partial_result(self, state: Mapping[str, Any]) -> AgentResult | None:
        """What the agent came to in a run that ended before its graph did: at a limit, by an error
        or by a person.

        Args:
            state: the latest that was kept.

        Returns:
            its `output` and `data` go into the record, whose status and reason are the run's; None
            where nothing is worth keeping.
        """
        return None

    async def aclose(self) -> None:
        """Give back what this agent holds; called once, also after a failed run."""
        return None
