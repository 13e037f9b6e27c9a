"""Runs over HTTP: start, follow by server-sent events, answer, configure, cancel, resume.

    python http_frontend.py 8000        # then: curl -N localhost:8000/runs/ID/events

A browser that reloads in the middle sends the number of the last event that it has seen
(`Last-Event-ID`) and gets what follows; that it went away ends no run.
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from pydantic import TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from retrai_core import Run, RunManager, RunNotFoundError, TrustRequired, UsageError

BODY = TypeAdapter(dict[str, Any])


def make_app(engine: str | None = None) -> Starlette:
    """The application; `engine` is what executes the runs, by default what the user configured."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with RunManager(engine=engine) as manager:
            await manager.attach()  # to the runs that an earlier server has left
            app.state.manager = manager
            yield

    routes = [
        Route("/runs", listed),
        Route("/runs", start, methods=["POST"]),
        Route("/runs/{id}", show),
        Route("/runs/{id}", configure, methods=["PATCH"]),
        Route("/runs/{id}/events", events),
        Route("/runs/{id}/questions", questions),
        Route("/runs/{id}/questions/{question}", answer, methods=["POST"]),
        Route("/runs/{id}/cancel", cancel, methods=["POST"]),
        Route("/runs/{id}/resume", resume, methods=["POST"]),
    ]
    handlers: dict[Any, Any] = {UsageError: refused, ValidationError: refused}
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)


async def start(request: Request) -> Response:
    """Begin a run: `{"project": DIR, "goal": "pytest", ...any setting}`."""
    manager: RunManager = request.app.state.manager
    run = await manager.submit(await manager.prepare(**await _body(request)))
    return JSONResponse({"id": run.id}, 201)


async def listed(request: Request) -> Response:
    """The newest runs, `?status=waiting` only those."""
    found = await request.app.state.manager.list(**{"limit": 50, **request.query_params})
    return JSONResponse([{"id": run.id, "status": run.status} for run in found])


async def show(request: Request) -> Response:
    """The record of a run."""
    return JSONResponse((await (await _run(request)).record()).model_dump(mode="json"))


async def events(request: Request) -> Response:
    """Every event behind the one that the browser has seen last, until the run ends."""
    run = await _run(request)
    after: Any = request.headers.get("last-event-id") or request.query_params.get("after", 0)
    found = run.events(after)  # which says what is wrong with the number before anything is sent
    lines = (f"id: {one.seq}\nevent: {one.kind}\ndata: {one.to_json()}\n\n" async for one in found)
    return StreamingResponse(lines, media_type="text/event-stream")


async def questions(request: Request) -> Response:
    """What the run asks now."""
    found = await (await _run(request)).questions()
    return JSONResponse([question.model_dump(mode="json") for question in found])


async def answer(request: Request) -> Response:
    """Answer a question: `{"choice": "approve", "text": ""}`; 409 where somebody was faster."""
    run, given = await _run(request), await _body(request)
    counts = await run.answer(request.path_params["question"], **given)
    return JSONResponse({"counts": counts}, 200 if counts else 409)


async def configure(request: Request) -> Response:
    """Change settings of a run that goes on: `{"max_iterations": 30}`."""
    await (await _run(request)).configure(**await _body(request))
    return Response(status_code=204)


async def cancel(request: Request) -> Response:
    """End a run."""
    return JSONResponse({"cancelled": await (await _run(request)).cancel()})


async def resume(request: Request) -> Response:
    """Go on with a run, with new limits where the body has some."""
    return JSONResponse({"id": (await (await _run(request)).resume(**await _body(request))).id})


async def _run(request: Request) -> Run:
    return await request.app.state.manager.get(request.path_params["id"])


async def _body(request: Request) -> dict[str, Any]:
    return BODY.validate_json(await request.body() or b"{}")


async def refused(_: Request, error: UsageError | ValidationError) -> Response:
    """What was wrong, and what to do; `trust` agrees to what the project's own file wants run."""
    if isinstance(error, ValidationError):
        return JSONResponse(
            {"error": f"the body is no JSON object: {error.errors()[0]['msg']}"}, 400
        )
    shown: dict[str, Any] = {"error": error.message, "hint": error.hint}
    if isinstance(error, TrustRequired):
        return JSONResponse({**shown, "trust": error.digest, "items": error.items}, 403)
    return JSONResponse(shown, 404 if isinstance(error, RunNotFoundError) else 400)


if __name__ == "__main__":
    uvicorn.run(make_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
