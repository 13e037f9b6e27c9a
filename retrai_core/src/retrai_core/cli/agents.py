"""`retrai agents`: the installed agents and their graphs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ..errors import UsageError
from .columns import aligned
from .lazy_group import PluginGroup
from .output import echo
from .project_option import project_option

if TYPE_CHECKING:
    from langchain_core.runnables.graph import Graph as Drawing

    from ..runs.agent_graph import AgentInfo

_HEADINGS = ("NAME", "GOAL", "INPUT", "SOURCE", "SUMMARY")
_EXTRA = "`pip install 'retrai[graph]'` brings what draws it; --mermaid needs nothing"


@click.group(cls=PluginGroup)
def agents() -> None:
    """List the agents and draw their graphs."""


@agents.command("list")
@project_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, including schemas and graphs.")
def list_agents(project: Path, as_json: bool) -> None:
    """List the installed agents: name, need for a goal, input, source.

    In .retrai.yml, `agent: NAME` selects an agent and `input:` sets its input.
    """
    from ..config.sources import load_settings
    from ..runs.agent_graph import agents as installed

    found = installed(load_settings(project), with_graphs=as_json)
    if as_json:
        echo(json.dumps({"agents": [_as_json(info) for info in found]}, indent=2))
        return
    echo(aligned([_HEADINGS, *(_row(info) for info in found)]))


@agents.command("graph")
@click.argument("name")
@project_option
@click.option("--mermaid", "form", flag_value="mermaid", help="Print Mermaid text (the default).")
@click.option("--ascii", "form", flag_value="ascii", help="Draw it with ASCII characters.")
@click.option(
    "--png", "picture", type=click.Path(dir_okay=False, path_type=Path), help="Write a PNG image."
)
@click.option("--json", "form", flag_value="json", help="Print nodes and edges as JSON.")
def graph(name: str, project: Path, form: str | None, picture: Path | None) -> None:
    """Draw an agent's graph. Needs no key and no network.

    --ascii and --png need `pip install 'retrai[graph]'`. Dotted lines are conditional: the agent
    chooses between them at run time.
    """
    if form and picture is not None:
        raise UsageError("--png stands alone", hint=f"`retrai agents graph {name} --png FILE`")
    from ..config.sources import load_settings
    from ..runs.agent_graph import GraphEdge, drawing_of
    from ..runs.resolver import Resolver

    drawing = drawing_of(Resolver(load_settings(project)), name)
    if picture is not None:
        _write(drawing, picture)
    elif form == "json":
        edges = [GraphEdge(e.source, e.target, e.conditional)._asdict() for e in drawing.edges]
        echo(json.dumps({"nodes": list(drawing.nodes), "edges": edges}, indent=2))
    elif form == "ascii":
        echo(_ascii(drawing))
    else:
        echo(drawing.draw_mermaid().rstrip())


def _ascii(drawing: Drawing) -> str:
    """The graph as characters.

    Raises:
        UsageError: what draws it is not installed.
    """
    from langchain_core.runnables.graph import Graph as Drawing

    # What draws it knows no edge from a node to itself.
    loops = [edge.source for edge in drawing.edges if edge.source == edge.target]
    rest = [edge for edge in drawing.edges if edge.source != edge.target]
    try:
        drawn = Drawing(drawing.nodes, rest).draw_ascii()
    except ImportError as error:
        raise UsageError("--ascii needs grandalf", hint=_EXTRA) from error
    return "\n".join([drawn, *(f"{name} may follow itself" for name in loops)])


def _write(drawing: Drawing, path: Path) -> None:
    """Write the graph as a picture.

    Raises:
        UsageError: what draws it is not installed, or the file cannot be written.
    """
    try:
        from .render.graph_picture import picture_of
    except ImportError as error:
        raise UsageError("--png needs grandalf and Pillow", hint=_EXTRA) from error
    try:
        path.write_bytes(picture_of(drawing))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error


def _row(info: AgentInfo) -> tuple[str, ...]:
    source = f"{info.dist} {info.version}".rstrip()
    if info.error:
        return info.name, "?", "?", source, f"{info.status}: {info.error}"
    schema = cast("dict[str, Any]", info.input)
    needed = schema.get("required", [])
    names = [name if name in needed else f"[{name}]" for name in schema.get("properties", {})]
    goal = "needed" if info.requires_goal else "-"
    return info.name, goal, ", ".join(names) or "-", source, info.summary


def _as_json(info: AgentInfo) -> dict[str, Any]:
    return asdict(info) | {"edges": [edge._asdict() for edge in info.edges]}
