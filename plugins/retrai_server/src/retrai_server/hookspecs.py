"""What the server asks of plugins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from retrai_core import hookspec

if TYPE_CHECKING:
    from fastapi import APIRouter

    from .server import Server


class ServerHooks:
    """The hooks of `retrai serve`."""

    @hookspec
    def routes(self, server: Server) -> Sequence[APIRouter]:
        """Routes of a plugin, behind the server's own security; called once at the start.

        Args:
            server: `server.manager` is the `RunManager`; `server.projects` has the folder of each
                registered project by its UUID; `server.options` is what the user asked for;
                `await server.run(run_id)` gives a `Run` that clients may see, and its record;
                what is entered into `server.closing`, an `AsyncExitStack`, is closed with the
                server; `server.body_limits["/api/count"] = 2_000_000` allows a route that many
                bytes of body.

        Example:
            >>> from fastapi import APIRouter
            >>> from retrai_core import hookimpl
            >>> class CountHook:
            ...     @hookimpl(optionalhook=True)
            ...     def routes(self, server):
            ...         router = APIRouter(prefix="/api/count")
            ...         @router.get("")
            ...         async def count():
            ...             return {"runs": len(await server.manager.list())}
            ...         return [router]
        """
        return ()
