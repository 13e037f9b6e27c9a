"""The frontend `serve`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from retrai_core import Frontend

if TYPE_CHECKING:
    import click


class Serve(Frontend):
    """Serves the runs of some folders over HTTP."""

    name: ClassVar[str] = "serve"
    summary: ClassVar[str] = "serve a web API and a dashboard for runs"
    needs: ClassVar[frozenset[str]] = frozenset({"network", "read", "run", "write"})

    def command(self) -> click.Command:
        """The command."""
        from .command import serve

        return serve
