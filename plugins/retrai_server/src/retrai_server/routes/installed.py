"""What is there: plugins, agents, models, memory, configuration."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, get_args

from fastapi import APIRouter, Query
from fastapi import Path as PathParameter

from retrai_core import Kind, MemoryStore, Strategy

from ..errors import ApiError, Json
from ..schemas import answers, problem
from ..server import Server
from ..views import without_secrets
from .shared import ServerState

router = APIRouter(prefix="/api", tags=["installed"])
Project = Annotated[
    uuid.UUID | None, Query(description="The project's UUID; the first root when left out.")
]
_PLUGIN = {"kind": "goal", "name": "pytest", "dist": "retrai-goals-python", "status": "unloaded"}
_AGENT = {"name": "goal-loop", "status": "ok", "nodes": ["plan", "act"], "edges": []}
_MODEL = {"model": "offline", "provider": "offline@retrai-llm-offline", "source": "built in"}
_STRATEGY = {"id": "s1", "goal": "pytest", "pattern": "run the failing test", "confidence": 0.5}
_SETTING = {"name": "max_iterations", "value": 50, "origin": "default"}
_NOT_FOUND = {404: problem("StrategyNotFound", "nothing remembered is called s1")}


@router.get("/plugins", responses=answers([_PLUGIN]))
async def list_plugins(
    server: ServerState, kind: Annotated[str | None, Query(examples=["goal"])] = None
) -> Json:
    """Every installed plugin: status, options, distribution, what is wrong with it."""
    if kind is not None and kind not in get_args(Kind):
        raise ApiError(422, "ValidationError", f"kind: one of {', '.join(get_args(Kind))}")
    return Json([asdict(plugin) for plugin in await server.manager.plugins(kind)])


@router.get("/agents", responses=answers([_AGENT]))
async def list_agents(server: ServerState, project: Project = None) -> Json:
    """The installed agents, with their input's schema and their graphs as nodes and edges."""
    found = await server.manager.agents(_folder(server, project))
    return Json([{**asdict(one), "edges": [e._asdict() for e in one.edges]} for one in found])


@router.get("/models", responses=answers([_MODEL]))
async def list_models(server: ServerState) -> Json:
    """The models that can be used here: keys that are set, servers that answer on this machine."""
    return Json([asdict(model) for model in await server.manager.models()])


@router.get("/memory", responses=answers([_STRATEGY]))
async def list_memory(server: ServerState, project: Project = None) -> Json:
    """What earlier runs in the project have taught."""
    folder = _folder(server, project)
    async with server.manager.memory(folder) as store:
        return Json([_shown(strategy) for strategy in await store.entries(folder)])


@router.delete("/memory/{strategy_id}", responses=answers({"forgotten": 1}, _NOT_FOUND))
async def forget(
    server: ServerState,
    strategy_id: Annotated[str, PathParameter(max_length=200, examples=["s1"])],
    project: Project = None,
) -> Json:
    """Forget a strategy."""
    folder = _folder(server, project)
    async with server.manager.memory(folder) as store:
        if not await _knows(store, folder, strategy_id):
            message = f"nothing remembered is called {strategy_id}"
            raise ApiError(404, "StrategyNotFound", message)
        return Json({"forgotten": await store.forget(folder, [strategy_id])})


@router.get("/config", responses=answers([_SETTING]))
async def show_config(server: ServerState, project: Project = None) -> Json:
    """Every setting of the project, its value, and where that comes from."""
    found = await server.manager.settings(_folder(server, project))
    shown = [
        {**asdict(each), "value": without_secrets(each.value, each.name)}
        for each in found
        if each.name != "cwd"  # the project itself
    ]
    return Json(shown)


def _folder(server: Server, project: uuid.UUID | None) -> Path:
    return server.options.roots[0] if project is None else server.projects.folder(project)


async def _knows(store: MemoryStore, folder: Path, strategy: str) -> bool:
    return strategy in [entry.id for entry in await store.entries(folder)]


def _shown(strategy: Strategy) -> dict[str, object]:
    return {
        "id": strategy.id,
        "goal": strategy.goal,
        "pattern": strategy.pattern,
        "success_count": strategy.success_count,
        "confidence": strategy.confidence,
    }
