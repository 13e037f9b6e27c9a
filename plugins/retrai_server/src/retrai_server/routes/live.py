"""Events: as JSON, as server-sent events, and over WebSockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Query, Request, WebSocket
from starlette.responses import Response, StreamingResponse

from retrai_core import AgentEvent, RetraiError, Run

from ..errors import ApiError, Json, response_of
from ..schemas import EVENT_EXAMPLE, NOT_FOUND, After, Event, RunId, answers
from ..websocket_protocol import FRAMES
from .shared import ServerState

router = APIRouter(tags=["events"])


@router.get(
    "/api/runs/{run_id}/events",
    response_model=list[Event],
    responses=answers([EVENT_EXAMPLE], NOT_FOUND),
)
async def list_events(
    server: ServerState, request: Request, run_id: RunId, after: After = 0
) -> Response:
    """The events so far. With `Accept: text/event-stream`, each further one too, until the run
    ends; a client that reconnects sends `Last-Event-ID`."""
    run, _ = await server.run(run_id)
    if "text/event-stream" in request.headers.get("accept", ""):
        last = request.headers.get("last-event-id", "")
        if last and not (last.isascii() and last.isdecimal() and len(last) < 17):
            raise ApiError(422, "ValidationError", f"Last-Event-ID: {last!r} is no number")
        return StreamingResponse(_sent(run, int(last or after)), media_type="text/event-stream")
    return Json([event.to_dict() for event in await run.logged(after)])


async def _sent(run: Run, after: int) -> AsyncGenerator[bytes]:
    async with aclosing(_generator(run, after)) as events:
        async for event in events:
            text = f"id: {event.seq}\nevent: {event.kind}\ndata: {event.to_json()}\n\n"
            yield text.encode("utf-8", "backslashreplace")


async def _generator(run: Run, after: int) -> AsyncGenerator[AgentEvent]:
    async for event in run.events(after):
        yield event


@router.websocket("/api/ws/{run_id}")
async def follow_run(
    server: ServerState,
    socket: WebSocket,
    run_id: RunId,
    after: After = 0,
    deltas: Annotated[bool, Query()] = False,
) -> None:
    """The events of a run behind number `after`; closes after the last `run_end`."""
    try:
        run, _ = await server.run(run_id)
    except RetraiError as error:
        await socket.send_denial_response(response_of(error))
        return
    await socket.accept()
    async with server.feeds.of(run, after) as feed:
        await _send_all(socket, feed.follow(after, deltas=deltas))


@router.websocket("/api/ws")
async def follow_statuses(server: ServerState, socket: WebSocket) -> None:
    """Status changes of all runs."""
    await socket.accept()
    await _send_all(socket, server.statuses.follow())


async def _send_all(socket: WebSocket, batches: AsyncGenerator[bytes]) -> None:
    """Send batches of frames until there are no more, or the client goes away."""

    async def send() -> None:
        async with aclosing(batches):
            async for frames in batches:
                await socket.send({"type": "websocket.send", FRAMES: frames})

    sending = asyncio.create_task(send())
    gone = asyncio.create_task(_until_gone(socket))
    try:
        await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
        if sending.done() and not gone.done() and sending.exception() is None:
            await socket.close()
    finally:
        for task in (sending, gone):
            task.cancel()
        await asyncio.wait({sending, gone})


async def _until_gone(socket: WebSocket) -> None:
    """Wait for the client to go away; what it says is not heard."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass
