"""Runs over HTTP: start, follow by server-sent events, answer, configure, cancel, resume.

    python http_frontend.py 8000        # then: curl -N localhost:8000/runs/ID/events

A browser that reloads in the middle sends the number of the last event that it has seen
(`Last-Event-ID`) and gets what follows; that it went away ends no run.
"""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from retrai_core import Run, RunManager, RunNotFoundError, TrustRequired, UsageError


def make_app(engine: str | None = None) -> Starlette:
    """The application; `engine` is what executes the runs, by default what the user configured."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with RunManager(engine=engine) as manager:
            await manager.attach()  # to the runs that an earlier server has left
            app.state.manager = manager
            yield

    routes = [
        Route("/runs", start, methods=["POST"]),
        Route("/runs", listed, methods=["GET"]),
        Route("/runs/{id}", show, methods=["GET"]),
        Route("/runs/{id}", configure, methods=["PATCH"]),
        Route("/runs/{id}/events", events, methods=["GET"]),
        Route("/runs/{id}/questions", questions, methods=["GET"]),
        Route("/runs/{id}/questions/{question}", answer, methods=["POST"]),
        Route("/runs/{id}/cancel", cancel, methods=["POST"]),
        Route("/runs/{id}/resume", resume, methods=["POST"]),
    ]
    handlers: dict[Any, Any] = {TrustRequired: ask_for_trust, UsageError: bad_request}
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)


async def start(request: Request) -> Response:
    """Begin a run: `{"project": DIR, "goal": "pytest", ...any setting}`."""
    manager: RunManager = request.app.state.manager
    run = await manager.submit(await manager.prepare(**await _body(request)))
    return JSONResponse({"id": run.id}, status_code=201)


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

    async def lines() -> AsyncIterator[str]:
        async for event in found:
            yield f"id: {event.seq}\nevent: {event.kind}\ndata: {event.to_json()}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream")


async def questions(request: Request) -> Response:
    """What the run asks now."""
    asked = await (await _run(request)).questions()
    return JSONResponse([question.model_dump(mode="json") for question in asked])


async def answer(request: Request) -> Response:
    """Answer a question: `{"choice": "approve", "text": ""}`; 409 where somebody was faster."""
    given = await _body(request)
    run, question = await _run(request), request.path_params["question"]
    counts = await run.answer(question, given.get("choice", ""), given.get("text", ""))
    return JSONResponse({"counts": counts}, status_code=200 if counts else 409)


async def configure(request: Request) -> Response:
    """Change settings of a run that goes on: `{"max_iterations": 30}`."""
    await (await _run(request)).configure(**await _body(request))
    return Response(status_code=204)


async def cancel(request: Request) -> Response:
    """End a run."""
    return JSONResponse({"cancelled": await (await _run(request)).cancel()})


async def resume(request: Request) -> Response:
    """Go on with a run, with new limits where the body has some."""
    run = await (await _run(request)).resume(**await _body(request))
    return JSONResponse({"id": run.id})


async def _run(request: Request) -> Run:
    return await request.app.state.manager.get(request.path_params["id"])


async def _body(request: Request) -> dict[str, Any]:
    try:
        given = json.loads(await request.body() or "{}")
    except ValueError as error:
        raise UsageError(f"the body is no JSON: {error}") from error
    if not isinstance(given, dict):
        raise UsageError("the body is no JSON object")
    return given


async def ask_for_trust(_: Request, error: TrustRequired) -> Response:
    """The project's own file wants something run: `trust` is what agrees to exactly that."""
    shown = {"error": error.message, "trust": error.digest, "items": error.items}
    return JSONResponse(shown, status_code=403)


async def bad_request(_: Request, error: UsageError) -> Response:
    """What was wrong, and what to do; 404 where there is no such run."""
    status = 404 if isinstance(error, RunNotFoundError) else 400
    return JSONResponse({"error": error.message, "hint": error.hint}, status_code=status)


if __name__ == "__main__":
    uvicorn.run(make_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
