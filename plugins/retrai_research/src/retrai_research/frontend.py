"""The frontend `ask`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from retrai_core import Frontend

if TYPE_CHECKING:
    import click


class Ask(Frontend):
    """Asks the agent `research` a question about a project's code."""

    name: ClassVar[str] = "ask"
    summary: ClassVar[str] = "ask a question about the code; the answer has checked citations"
    needs: ClassVar[frozenset[str]] = frozenset({"read"})

    def command(self) -> click.Command:
        """The command."""
        from .command import ask

        return ask
