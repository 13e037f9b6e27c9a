"""The application: routes of the server and of plugins, errors, the OpenAPI document."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request, WebSocket
from fastapi.exceptions import RequestValidationError, WebSocketRequestValidationError
from fastapi.routing import APIRoute, APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from retrai_core import OwnHooks, RetraiError, __version__, echo

from . import pages
from .errors import Json, response_of
from .hookspecs import ServerHooks
from .routes import installed, live, projects, receipts, runs
from .schemas import RUN, answers
from .server import Server

_DESCRIPTION = (
    "Start, watch, steer and trust runs of retrai. Every route but /api/health needs "
    "`Authorization: Bearer TOKEN`."
)


def make_app(server: Server) -> FastAPI:
    """The application, without the guard."""
    app = FastAPI(
        title="retrai",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        default_response_class=Json,
        generate_unique_id_function=_name_of,  # what a client's function is called
    )
    app.state.server = server
    app.include_router(_own_routes(app))
    for module in (runs, live, projects, installed):
        app.include_router(module.router)
    _include_plugins(app, server)
    app.include_router(receipts.router)  # behind a plugin's
    _add_pages(app)
    _describe_sockets(app)
    for error in (RetraiError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(error, _answer_error)
    app.add_exception_handler(WebSocketRequestValidationError, _refuse_socket)
    return app


def _own_routes(app: FastAPI) -> APIRouter:
    router = APIRouter(tags=["server"])

    @router.get("/api/health", responses=answers({"status": "ok"}))
    async def health() -> Json:  # pyright: ignore[reportUnusedFunction] - a route
        """Whether the server answers; needs no token."""
        return Json({"status": "ok"})

    @router.get("/api/openapi.json", responses=answers({"openapi": "3.1.0"}))
    async def document() -> Json:  # pyright: ignore[reportUnusedFunction] - a route
        """This document."""
        return Json(app.openapi())

    @router.get("/api/docs", response_class=HTMLResponse)
    async def reference() -> HTMLResponse:  # pyright: ignore[reportUnusedFunction] - a route
        """The routes with examples, for people."""
        return pages.reference_page(app.openapi())

    return router


def _include_plugins(app: FastAPI, server: Server) -> None:
    """Add the routers of plugins; a broken plugin is named and left out."""
    hooks = OwnHooks(ServerHooks, server.options.roots[0])
    for line in hooks.problems:
        echo(f"warning: {line}", err=True)
    for answer in hooks.call("routes", server=server):
        try:
            if answer.problem is not None:
                raise answer.problem
            for router in answer.value:
                app.include_router(router)
        except Exception as error:  # noqa: BLE001 - a plugin's: the others are served
            echo(f"warning: no routes of {answer.plugin}: {error}", err=True)


def _add_pages(app: FastAPI) -> None:
    @app.get("/login", include_in_schema=False)
    async def login() -> HTMLResponse:  # pyright: ignore[reportUnusedFunction] - a route
        return pages.login_page("")

    if (pages.STATIC / "index.html").is_file():
        app.mount("/", pages.Dashboard(directory=pages.STATIC, html=True))
    else:

        @app.get("/", include_in_schema=False)
        async def start() -> HTMLResponse:  # pyright: ignore[reportUnusedFunction] - a route
            return pages.plain_page()


def _describe_sockets(app: FastAPI) -> None:
    """Name the WebSockets in the OpenAPI document, which has no words for them."""
    make = app.openapi
    about = {
        "/api/ws": ("Status changes of all runs.", []),
        "/api/ws/{run_id}": (
            "The events of a run, one JSON object a message; closes after the last `run_end`.",
            [
                _parameter("run_id", "path", "string", RUN),
                _parameter("after", "query", "integer", 0),
                _parameter("deltas", "query", "integer", 1),
            ],
        ),
    }

    def openapi() -> dict[str, Any]:
        document = make()
        for path, (text, parameters) in about.items():
            document["paths"][path] = {
                "x-websocket": {"summary": text, "parameters": parameters},
            }
        return document

    app.openapi = openapi


def _parameter(name: str, where: str, kind: str, example: object) -> dict[str, Any]:
    required = where == "path"
    schema = {"type": kind}
    return {"name": name, "in": where, "required": required, "schema": schema, "example": example}


def _name_of(route: APIRoute) -> str:
    return route.name


async def _answer_error(request: Request, error: Exception) -> Response:
    return response_of(error)


async def _refuse_socket(socket: WebSocket, error: Exception) -> None:
    await socket.send_denial_response(response_of(error))
