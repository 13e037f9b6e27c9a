"""A WebSocket connection that takes frames which are made already, many in one write.

uvicorn makes the frames of each message for each client anew, and writes each by itself: with 50
clients that is most of the work.
"""

from __future__ import annotations

from typing import Any, cast

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

FRAMES = "retrai.frames"
"""The key of a `websocket.send` message with bytes that go to the client as they are."""


class SharedFramesProtocol(WebSocketsSansIOProtocol):
    """uvicorn's protocol, with `FRAMES`."""

    async def send(self, message: Any) -> None:
        """Send a message; waits while the client does not read."""
        frames = cast("bytes | None", message.get(FRAMES))
        if frames is None:
            await super().send(message)
            if message["type"] == "websocket.http.response.body" and not message.get("more_body"):
                self.handshake_complete = True  # else uvicorn logs the refusal as an error
            return
        await self.writable.wait()
        if self.disconnected or self.conn.state is not State.OPEN:
            raise ClientDisconnected
        self.transport.write(frames)
