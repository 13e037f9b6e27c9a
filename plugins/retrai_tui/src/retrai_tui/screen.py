"""What the screens have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.screen import Screen

if TYPE_CHECKING:
    from .app import RetraiApp


class RetraiScreen(Screen[None]):
    """A screen of the application, whose workers end before its widgets are removed.

    Textual ends the workers of a screen after its widgets: one that wakes up in between does not
    find what it wants to change, and ends the application.
    """

    @property
    def _app(self) -> RetraiApp:
        return cast("RetraiApp", self.app)  # pyright: ignore[reportUnknownMemberType] - of App[Unknown]

    def on_prune(self) -> None:
        """The screen is being closed."""
        self.workers.cancel_node(self)
