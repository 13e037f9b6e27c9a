"""The frontend `generate-eval`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from retrai_core import Frontend

if TYPE_CHECKING:
    import click


class GenerateEval(Frontend):
    """Has a model write `.retrai/eval_harness.py`, which the goal `ai-eval` works towards."""

    name: ClassVar[str] = "generate-eval"
    summary: ClassVar[str] = "let a model write an evaluation of the project for the goal ai-eval"
    needs: ClassVar[frozenset[str]] = frozenset({"read", "write", "run", "network"})

    def command(self) -> click.Command:
        """The command."""
        from .generate_eval_command import new_command

        return new_command()
