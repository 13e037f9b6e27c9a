"""The hook plugin `react`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from retrai_core import hookimpl

from .options import ReactOptions


class ReactRoutes:
    """Gives retrai-server the routes of the ReAct step service."""

    Options = ReactOptions

    def __init__(self, options: ReactOptions) -> None:
        self._options = options

    @hookimpl(optionalhook=True)
    def routes(self, server: Any) -> Sequence[Any]:
        """The step, the pinned items of a project, and the token count."""
        from .routes import react_routes  # which needs what only retrai-server brings

        return react_routes(server, self._options)
