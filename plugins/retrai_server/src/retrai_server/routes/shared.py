"""What the routes have in common."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from ..server import Server


def _server(connection: HTTPConnection) -> Server:
    return connection.app.state.server


ServerState = Annotated[Server, Depends(_server)]
"""The server, as a parameter of a route."""
