"""The frontend `verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from retrai_core import Frontend

if TYPE_CHECKING:
    import click


class Verify(Frontend):
    """Checks a receipt: its signature, then the tree, then the check itself."""

    name: ClassVar[str] = "verify"
    summary: ClassVar[str] = "verify a receipt: signature, tree and check"
    needs: ClassVar[frozenset[str]] = frozenset({"read", "run"})

    def command(self) -> click.Command:
        """The command."""
        from .command import verify

        return verify
