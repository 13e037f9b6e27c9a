"""The frontend `tui`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from retrai_core import Frontend

if TYPE_CHECKING:
    import click


class Tui(Frontend):
    """Shows and steers runs full-screen in a terminal."""

    name: ClassVar[str] = "tui"
    summary: ClassVar[str] = "start, watch and steer runs full-screen in a terminal"
    needs: ClassVar[frozenset[str]] = frozenset({"read", "run", "write"})

    def command(self) -> click.Command:
        """The command."""
        from .command import tui

        return tui
