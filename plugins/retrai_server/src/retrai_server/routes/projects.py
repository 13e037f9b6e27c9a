"""Projects: folders beneath the roots, the goals in them, and their options."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi import Path as PathParameter

from ..errors import ApiError, Json
from ..projects import Projects
from ..schemas import PROJECT, RUN, RegisterProject, answers, problem
from ..server import Server
from .shared import ServerState

router = APIRouter(prefix="/api/projects", tags=["projects"])
ProjectId = Annotated[uuid.UUID, PathParameter(examples=[PROJECT])]
_EXAMPLE = {
    "id": PROJECT,
    "path": "/home/me/shop",
    "name": "shop",
    "goals": [{"name": "pytest", "evidence": "tests/test_price.py"}],
}
_NOT_FOUND = {404: problem("ProjectNotFound", f"no project {PROJECT} is registered")}
_OUTSIDE = {403: problem("OutsideRoots", "/etc does not lie beneath /home/me")}
_FOLDERS = {"path": "/home/me", "parent": None, "folders": ["/home/me/shop"]}
_SCHEMA = {"type": "object", "properties": {"targets": {"type": "array"}}}


@router.get("", responses=answers([_EXAMPLE]))
async def list_projects(server: ServerState) -> Json:
    """The registered projects: the roots, and the folders of runs and of requests."""
    shown = [_brief(project, server.projects) for project in server.projects]
    return Json(sorted((one for one in shown if one), key=lambda one: one["path"]))


@router.post("", status_code=201, responses=answers(_EXAMPLE, _OUTSIDE, _NOT_FOUND, status=201))
async def register_project(server: ServerState, body: RegisterProject) -> Json:
    """Register a folder beneath a root; its UUID is the same each time."""
    project = server.projects.register(server.projects.resolve(body.path))
    return Json(await _whole(server, project), 201)


@router.get("/folders", responses=answers(_FOLDERS, _OUTSIDE))
async def list_folders(
    server: ServerState,
    path: Annotated[str, Query(max_length=4096, description="A folder beneath a root.")] = ".",
) -> Json:
    """The folders in a folder, for a picker; hidden ones are left out. A root has no `parent`."""
    folder = server.projects.resolve(path)
    inside = sorted(
        str(each)
        for each in folder.iterdir()
        if not each.name.startswith(".") and each.is_dir() and server.projects.contains(each)
    )
    parent = str(folder.parent) if server.projects.contains(folder.parent) else None
    return Json({"path": str(folder), "parent": parent, "folders": inside[:1000]})


@router.post("/demo", status_code=201, responses=answers({**_EXAMPLE, "run_id": RUN}, status=201))
async def start_demo(server: ServerState) -> Json:
    """Copy the demo project to `retrai-demo` beneath the first root, and start a run that fixes it:
    no key is needed."""
    root = server.projects.resolve(".")
    names = (f"retrai-demo{number}" for number in ("", *(f"-{n}" for n in range(2, 1000))))
    folder = next(root / name for name in names if not (root / name).exists())
    run, _ = await server.submit(await server.manager.demo(folder))
    project = server.projects.id_of(folder)
    return Json({**await _whole(server, project), "run_id": run.id}, 201)


@router.get("/{project_id}", responses=answers(_EXAMPLE, _NOT_FOUND))
async def show_project(server: ServerState, project_id: ProjectId) -> Json:
    """A project, and the goals that were detected in it, the likeliest first."""
    return Json(await _whole(server, project_id))


@router.get(
    "/{project_id}/goals/{goal}/options",
    responses=answers({"goal": "pytest", "options": _SCHEMA}, _NOT_FOUND),
)
async def show_options(server: ServerState, project_id: ProjectId, goal: str) -> Json:
    """The options of a goal as JSON Schema, for a form."""
    folder = server.projects.folder(project_id)
    return Json({"goal": goal, "options": await server.manager.goal_options(goal, folder)})


async def _whole(server: Server, project: uuid.UUID) -> dict[str, Any]:
    folder = server.projects.folder(project)
    goals = await server.manager.detect(folder)
    found = [{"name": goal.name, "evidence": goal.evidence} for goal in goals]
    return {**_described(project, folder), "goals": found}


def _brief(project: uuid.UUID, projects: Projects) -> dict[str, Any] | None:
    try:
        return _described(project, projects[project])
    except ApiError:  # it is gone
        return None


def _described(project: uuid.UUID, folder: Path) -> dict[str, Any]:
    return {"id": str(project), "path": str(folder), "name": folder.name}
