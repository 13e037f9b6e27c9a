"""A frontend: an additional command of the `retrai` script."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import click


class Frontend(ABC):
    """Provides one click command, which is listed without an import.

    With `parent = "runs"` it is a subcommand of that command: `retrai runs NAME`.

    It starts, follows and answers runs through `RunManager`, like retrai's own CLI.

    Example:
        >>> import click
        >>> class Hello(Frontend):
        ...     name = "hello"
        ...     summary = "say hello"
        ...     def command(self):
        ...         @click.command("hello")
        ...         def hello():
        ...             click.echo("hello")
        ...         return hello
        >>> Hello().command().name
        'hello'
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    needs: ClassVar[frozenset[str]] = frozenset()
    parent: ClassVar[str] = ""
    """The command group that it is a part of: one of retrai's, or another frontend's."""

    @abstractmethod
    def command(self) -> click.Command:
        """The command, named as the frontend."""
