"""An agent: builds the LangGraph graph that a run executes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict

from .context import RunContext

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph


class AgentOptions(BaseModel):
    """Base of an agent's options; they come from `agents: {AGENT: {...}}`, without
    the limits there (`max_iterations`, say), which are the run's."""

    model_config = ConfigDict(extra="forbid")


class Agent(ABC):
    """Builds the graph over `AgentState` that works towards the goal.

    The run's context travels in `config["configurable"]["context"]`, never in the state. An agent
    puts the loop's own steps together (`retrai_core.LoopSteps`) over `retrai_core.AgentState`:
    `evaluate` is the only way to a verdict, and the state at the end says how the run ended.

    Example:
        >>> class DoNothing(Agent):
        ...     name = "do-nothing"
        ...     def build_graph(self, checkpointer):
        ...         from langgraph.graph import END, START, StateGraph
        ...         graph = StateGraph(dict)
        ...         graph.add_node("idle", lambda state: {})
        ...         graph.add_edge(START, "idle")
        ...         graph.add_edge("idle", END)
        ...         return graph.compile(checkpointer=checkpointer)
        >>> DoNothing(AgentOptions(), context=None).name
        'do-nothing'
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    needs: ClassVar[frozenset[str]] = frozenset()
    steps_per_iteration: int = 4
    """The most nodes that one iteration may go through; a graph that takes more is ended."""
    Options: type[AgentOptions] = AgentOptions

    def __init__(self, options: Any, context: RunContext) -> None:
        self.options = options
        self.context = context

    @abstractmethod
    def build_graph(
        self, checkpointer: BaseCheckpointSaver[Any]
    ) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The compiled graph; `checkpointer` makes it resumable."""

    async def aclose(self) -> None:
        """Give back what this agent holds; called once, also after a failed run."""
        return None
