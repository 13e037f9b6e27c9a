"""The installed agents and their graphs as nodes and edges; runs nothing, asks no model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..agents.goal_loop.graph import completed
from ..config.sources import Settings
from ..contracts.agent import Agent
from ..errors import PluginError, UsageError
from ..plugins.answers import problem
from ..plugins.error_attribution import WrongAnswerError
from ..plugins.record import PluginRecord
from .resolved_run import make_context
from .resolver import Resolver

if TYPE_CHECKING:
    from langchain_core.runnables.graph import Graph as Drawing


class GraphEdge(NamedTuple):
    """An edge from one node to the next.

    Attributes:
        source: a node's name; `__start__` is the beginning.
        target: a node's name; `__end__` is the end.
        conditional: whether the agent decides on it while it runs.
    """

    source: str
    target: str
    conditional: bool


@dataclass(frozen=True)
class AgentInfo:
    """An installed agent.

    Attributes:
        name: its name.
        dist: the distribution.
        version: the distribution's.
        status: `ok`, or why it cannot be used; then `error` says more, and the rest is empty.
        error: in one line.
        summary: one line.
        requires_goal: whether a run needs a goal.
        default_tools: the tools of a run without a goal.
        default_model: the model where no key is set; None for none.
        input: what it is given, as a JSON schema.
        nodes: the nodes of its graph; empty where the graph was not asked for.
        edges: the ways between them.
    """

    name: str
    dist: str
    version: str
    status: str
    error: str
    summary: str
    requires_goal: bool = True
    default_tools: tuple[str, ...] = ()
    default_model: str | None = None
    input: Any = None
    nodes: tuple[str, ...] = ()
    edges: tuple[GraphEdge, ...] = ()


def agents(settings: Settings, *, with_graphs: bool = True) -> list[AgentInfo]:
    """The installed agents, with the options that the settings give them."""
    resolver = Resolver(settings)
    records = resolver.catalog.records("agent")
    return [_info(resolver, record, with_graphs=with_graphs) for record in records]


def drawing_of(resolver: Resolver, name: str) -> Drawing:
    """The graph of one agent, as LangGraph draws it.

    Raises:
        UsageError: no agent has the name, or an option is wrong.
        PluginError: it is broken.
    """
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.pregel import Pregel

    part, config = resolver.agent(name), resolver.config
    record = part.record
    try:
        agent = part.cls(part.options, make_context(config, config.cwd))
        graph: Any = agent.build_graph(InMemorySaver())
        if wrong := problem(graph, Pregel):
            raise WrongAnswerError(part.cls, f"build_graph() returned {wrong}: compile it", record)
        return graph.get_graph()
    except Exception as error:
        raise PluginError(
            f"the graph of the agent {record.name} of {record.dist} cannot be drawn: "
            f"{type(error).__name__}: {error}",
            hint=record.fix,
        ) from error


def _info(resolver: Resolver, record: PluginRecord, *, with_graphs: bool) -> AgentInfo:
    shown = (record.name, record.dist, record.version)
    try:
        cls = completed(cast("type[Agent]", resolver.catalog.load(record)))
        drawing = drawing_of(resolver, record.name) if with_graphs else None
    except (PluginError, UsageError) as error:
        status = "broken" if record.status == "ok" else record.status
        return AgentInfo(*shown, status, record.error or error.message, record.summary)
    edges = [] if drawing is None else drawing.edges
    return AgentInfo(
        *shown,
        record.status,
        "",
        record.summary or cls.summary,
        cls.requires_goal,
        tuple(cls.default_tools),
        cls.default_model,
        cls.Input.model_json_schema(),
        () if drawing is None else tuple(drawing.nodes),
        tuple(GraphEdge(edge.source, edge.target, edge.conditional) for edge in edges),
    )
