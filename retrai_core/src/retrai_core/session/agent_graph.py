"""What agents there are, and their graphs as nodes and edges; nothing is run, no model is asked."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..choosing import choose_agent
from ..contracts.agent import Agent
from ..contracts.context import RunContext
from ..errors import PluginError, UsageError
from ..loop.graph import completed
from ..plugins.answers import problem
from ..plugins.blame import WrongAnswerError
from ..plugins.record import PluginRecord
from ..run_config import RunConfig
from ..workspace.safe_paths import SafeWorkspace

if TYPE_CHECKING:
    from langchain_core.runnables.graph import Graph as Drawing

    from ..plugins.catalog import Catalog


class GraphEdge(NamedTuple):
    """A way from one node to the next.

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


def agents(catalog: Catalog, config: RunConfig | None = None) -> list[AgentInfo]:
    """The installed agents; with a configuration their graphs too.

    Args:
        catalog: what is installed.
        config: has the agents' options.
    """
    return [_info(catalog, record, config) for record in catalog.records("agent")]


def drawing_of(catalog: Catalog, config: RunConfig, name: str) -> Drawing:
    """The graph of one agent, as LangGraph draws it.

    Raises:
        UsageError: no agent has the name, or an option is wrong.
        PluginError: it is broken.
    """
    part = choose_agent(config.model_copy(update={"agent": name}), catalog)
    return _drawing(part.cls, part.options, part.record, config.cwd)


def _info(catalog: Catalog, record: PluginRecord, config: RunConfig | None) -> AgentInfo:
    shown = (record.name, record.dist, record.version)
    try:
        cls = completed(cast("type[Agent]", catalog.load(record)))
        drawing = None if config is None else drawing_of(catalog, config, record.name)
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


def _drawing(cls: type[Agent], options: Any, record: PluginRecord, project: Path) -> Drawing:
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.pregel import Pregel

    workspace = SafeWorkspace(project)
    context = RunContext("graph", project, workspace, sys.executable, project)
    try:
        graph: Any = cls(options, context).build_graph(InMemorySaver())
        if wrong := problem(graph, Pregel):
            raise WrongAnswerError(cls, f"build_graph() returned {wrong}: compile it", record)
        return graph.get_graph()
    except Exception as error:
        raise PluginError(
            f"the graph of the agent {record.name} of {record.dist} cannot be drawn: "
            f"{type(error).__name__}: {error}",
            hint=record.mend,
        ) from error
