"""The frontend `watch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from retrai_core import Frontend

if TYPE_CHECKING:
    import click


class Watch(Frontend):
    """Checks the goal whenever files of the project change."""

    name: ClassVar[str] = "watch"
    summary: ClassVar[str] = "check the goal whenever files change, and say what broke"
    needs: ClassVar[frozenset[str]] = frozenset({"read", "run", "write"})

    def command(self) -> click.Command:
        """The command."""
        from .command import watch

        return watch
