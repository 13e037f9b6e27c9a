"""The frontend `index`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from retrai_core import Frontend

if TYPE_CHECKING:
    import click


class IndexCommand(Frontend):
    """Indexes a project's code, searches it, and answers questions about its calls."""

    name: ClassVar[str] = "index"
    summary: ClassVar[str] = "index a project's code; search it and its call graph"
    needs: ClassVar[frozenset[str]] = frozenset({"read"})

    def command(self) -> click.Command:
        """The command."""
        from .command import index

        return index
