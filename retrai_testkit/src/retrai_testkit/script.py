"""What the fixture `scripted_model` gives: a script that a run's model plays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .scripted import ScriptedOptions, ScriptedProvider
from .turns import Turn, as_settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class ScriptedModel:
    """A script for the model `scripted`, which any `retrai run` can reach by its name.

    Attributes:
        turns: what the model does, one turn an answer; after the last it says that it is done.

    Example:
        >>> from retrai_testkit import call, say
        >>> script = ScriptedModel().play(call("file_read", path="a.py"), say("done"))
        >>> script.settings["model"], len(script.turns)
        ('scripted', 2)
    """

    name = "scripted"

    def __init__(self) -> None:
        self.turns: list[Turn] = []

    def play(self, *turns: Turn) -> ScriptedModel:
        """Add turns; returns itself."""
        self.turns += turns
        return self

    @property
    def settings(self) -> Mapping[str, Any]:
        """What `.retrai.yml` must hold for a run to be driven by this script."""
        return {"model": self.name, "plugins": {self.name: {"turns": as_settings(self.turns)}}}

    def chat_model(self) -> BaseChatModel:
        """The LangChain chat model itself, for tests without a run."""
        provider: Any = ScriptedProvider  # outside a run there is no context
        return provider(ScriptedOptions(turns=self.turns), None).create(self.name, 0.0, None)
