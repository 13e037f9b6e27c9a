"""The routes that retrai-server has through this plugin."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Path
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from retrai_core import FilesStore, RunManager, WorkspaceError

from . import schemas
from .context import Projects, PromptBuilder
from .files import ProjectFiles
from .limits import LimitReachedError, Limits
from .models import Models
from .options import ReactOptions
from .pins import MAX_PINS, PinStore, TooManyPinsError
from .schemas import CountTokens, NewPin, StepRequest, StepResponse
from .steps import StepService
from .tokens import ESTIMATE_ERROR, TokenCounter

STEP_PATH = "/api/agent/react_step"
_UNKNOWN = "unknown"
_CLIENT_GONE = 499
_LOG = logging.getLogger("retrai_react")
_PROJECT_ID = Annotated[str, Path(examples=[schemas.PROJECT], max_length=64)]
_PIN_ID = Annotated[str, Path(examples=[schemas.PIN], max_length=64)]

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class ServerState(Protocol):
    """What is used of retrai-server's own object."""

    manager: RunManager
    closing: AsyncExitStack
    body_limits: dict[str, int]

    @property
    def projects(self) -> Projects:
        """The projects."""
        ...


class Json(JSONResponse):
    """JSON in ASCII; a number that JSON does not know is null."""

    def render(self, content: Any) -> bytes:
        """The body."""
        try:
            return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
        except ValueError:
            known = json.loads(json.dumps(content), parse_constant=lambda _: None)
            return json.dumps(known, separators=(",", ":")).encode("ascii")


class ReactRoute(APIRoute):
    """A route whose malformed requests are answered as clients of the original expect."""

    def get_route_handler(self) -> Handler:
        """FastAPI's handler, with other errors."""
        handle = super().get_route_handler()

        async def answered(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                return _bad_request(error.errors())
            except HTTPException as error:
                if error.status_code != 400:
                    raise
                return _bad_request([{"loc": ("body",), "msg": str(error.detail)}])

        return answered


class StepRoute(ReactRoute):
    """The step's route: it has limits, and says nothing of what went wrong inside."""

    limits: Limits

    def get_route_handler(self) -> Handler:
        """The handler, within the limits."""
        handle = super().get_route_handler()

        async def answered(request: Request) -> Response:
            try:
                with self.limits.one_more():
                    return await handle(request)
            except LimitReachedError as error:
                body = {**schemas.LIMITED, "message": error.message}
                return Json(body, 429, {"Retry-After": str(error.retry_after_s)})
            except HTTPException:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, its words may hold a key
                frames = "".join(traceback.format_tb(error.__traceback__))
                _LOG.error("a step failed: %s\n%s", type(error).__name__, frames)
                return Json(schemas.FAILED, 500)

        return answered


def react_routes(server: ServerState, options: ReactOptions) -> Sequence[APIRouter]:
    """The routers.

    Args:
        server: retrai-server's own object.
        options: the plugin's.
    """
    server.body_limits[STEP_PATH] = options.max_body_bytes
    server.body_limits["/api/context/token_count"] = options.max_body_bytes
    pins = PinStore(FilesStore().state / "react" / "pins.sqlite")
    builder = PromptBuilder(server.projects, pins)
    service = StepService(builder, Models(server.manager, server.closing, options))
    limits = Limits(options.steps_per_minute, options.max_in_flight)
    return [
        _step_router(service, server.projects, limits),
        _pin_router(server.projects, pins, "/api/projects/{project_id}/pins"),
        _pin_router(
            server.projects, pins, "/api/project/{project_id}/pinned_context", is_alias=True
        ),
        _count_router(),
    ]


def _step_router(service: StepService, projects: Projects, limits: Limits) -> APIRouter:
    route_class = type("LimitedStepRoute", (StepRoute,), {"limits": limits})
    router = APIRouter(tags=["react"], route_class=route_class)

    @router.post(
        STEP_PATH,
        response_model=None,
        responses=_answers(schemas.STEP_ANSWER, 429, 500, model=StepResponse),
    )
    async def react_step(  # pyright: ignore[reportUnusedFunction] - a route
        body: StepRequest, request: Request
    ) -> Response:
        """One stateless step of a Reason-Act loop: an action that the client shall execute, or an
        answer. A model call that fails is a step with the status `error`."""
        limits.count(str(body.project_id) if body.project_id in projects else _UNKNOWN)
        return await _unless_gone(request, service.step(body))

    return router


def _pin_router(
    projects: Projects, pins: PinStore, prefix: str, *, is_alias: bool = False
) -> APIRouter:
    router = APIRouter(
        prefix=prefix, tags=["react"], route_class=ReactRoute, include_in_schema=not is_alias
    )

    @router.get("", responses=_answers([schemas.PIN_EXAMPLE], 404))
    async def list_pins(project_id: _PROJECT_ID) -> Response:  # pyright: ignore[reportUnusedFunction]
        """The pinned items of a project, the oldest first."""
        project = await _registered(projects, project_id)
        return Json(await asyncio.to_thread(pins.list, project))

    @router.post("", status_code=201, responses=_answers(schemas.PIN_EXAMPLE, 404, status=201))
    async def add_pin(project_id: _PROJECT_ID, body: NewPin) -> Response:  # pyright: ignore[reportUnusedFunction]
        """Pin a text, or a file of the project, or some of its lines."""
        project = await _registered(projects, project_id)
        item = await asyncio.to_thread(_checked_pin, projects, project, body)
        try:
            return Json(await asyncio.to_thread(pins.add, project, item), 201)
        except TooManyPinsError:
            return _bad_request([{"loc": ("body",), "msg": f"a project has {MAX_PINS} pins"}])

    @router.delete("", responses=_answers({"removed": 2}, 404))
    async def remove_pins(project_id: _PROJECT_ID) -> Response:  # pyright: ignore[reportUnusedFunction]
        """Remove all pinned items of a project."""
        project = await _registered(projects, project_id)
        return Json({"removed": await asyncio.to_thread(pins.remove, project)})

    @router.delete("/{pin_id}", responses=_answers({"removed": 1}, 404))
    async def remove_pin(project_id: _PROJECT_ID, pin_id: _PIN_ID) -> Response:  # pyright: ignore[reportUnusedFunction]
        """Remove one pinned item."""
        project = await _registered(projects, project_id)
        if not await asyncio.to_thread(pins.remove, project, [pin_id]):
            raise HTTPException(404, f"no item {pin_id} is pinned")
        return Json({"removed": 1})

    return router


def _count_router() -> APIRouter:
    router = APIRouter(tags=["react"], route_class=ReactRoute)

    @router.post("/api/context/token_count", responses=_answers(schemas.COUNT_ANSWER))
    async def count_tokens(body: CountTokens) -> Response:  # pyright: ignore[reportUnusedFunction]
        """How many tokens a text is, by the model's tokenizer where it is at hand offline."""
        counter = await asyncio.to_thread(TokenCounter.of, body.model_name)
        count = await asyncio.to_thread(counter.count, body.text)
        method = counter.encoding if counter.is_exact else ESTIMATE_ERROR
        return Json({"token_count": count, "is_exact": counter.is_exact, "method": method})

    return router


async def _unless_gone(request: Request, work: Coroutine[Any, Any, Mapping[str, Any]]) -> Response:
    """The answer of the work, which is cancelled when the client goes away."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return Json(working.result())
        return Response(status_code=_CLIENT_GONE)
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.wait({working, leaving})


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _registered(projects: Projects, project_id: str) -> uuid.UUID:
    """The project's UUID.

    Raises:
        HTTPException: nobody has registered it.
        RetraiError: its folder is gone.
    """
    try:
        project = uuid.UUID(project_id)
    except ValueError:
        raise HTTPException(404, f"no project {project_id} is registered") from None
    await asyncio.to_thread(projects.folder, project)
    return project


def _checked_pin(projects: Projects, project: uuid.UUID, pin: NewPin) -> dict[str, Any]:
    """What is kept of a pin.

    Raises:
        HTTPException: it names no text, or no file of the project.
    """
    if pin.type == "text":
        if not pin.text:
            raise _wrong("text", "Field required")
        return {"type": "text", "text": pin.text, "title": pin.title}
    if not pin.path:
        raise _wrong("path", "Field required")
    if pin.end_line is not None and pin.end_line < pin.start_line:
        raise _wrong("end_line", "Input should not be less than start_line")
    files = ProjectFiles(projects.folder(project))
    try:
        path = files.inside(pin.path)
        files.lines(path, pin.start_line, pin.end_line or pin.start_line)
    except WorkspaceError as error:
        raise _wrong("path", error.message) from error
    lines = {"start_line": pin.start_line, "end_line": pin.end_line}
    return {"type": "file", "path": path, **lines, "title": pin.title}


def _wrong(field: str, message: str) -> RequestValidationError:
    return RequestValidationError([{"loc": ("body", field), "msg": message, "type": "value_error"}])


def _bad_request(errors: Sequence[Mapping[str, Any]]) -> Json:
    """The answer to a malformed request, without anything of the request: it may be a key."""
    form: list[str] = []
    fields: dict[str, list[str]] = {}
    for error in errors:
        place = [str(part) for part in error["loc"][1:]]
        if error.get("type") == "json_invalid" or not place:
            form.append(str(error["msg"]))
        else:
            inside = ".".join(place[1:])
            message = f"{inside}: {error['msg']}" if inside else str(error["msg"])
            fields.setdefault(place[0], []).append(message)
    details = {"formErrors": form[:20], "fieldErrors": {k: v[:20] for k, v in fields.items()}}
    return Json({**schemas.BAD_REQUEST, "details": details}, 400)


def _answers(
    example: Any, *more: int, status: int = 200, model: Any = None
) -> dict[int | str, dict[str, Any]]:
    """The answers of a route for the OpenAPI document."""
    missing = {"error": "ProjectNotFound", "message": f"no project {schemas.PROJECT} is registered"}
    errors = {400: schemas.BAD_REQUEST, 404: missing, 429: schemas.LIMITED, 500: schemas.FAILED}
    shown = {status: example, **{code: errors[code] for code in (400, *more)}}
    found: dict[int | str, dict[str, Any]] = {
        code: {"content": {"application/json": {"example": each}}} for code, each in shown.items()
    }
    if model is not None:
        found[status]["model"] = model
    return found
