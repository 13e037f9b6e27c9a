"""An engine: decides where a run executes."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Coroutine
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol

from pydantic import BaseModel, ConfigDict

from .models import OptionsT, TakesModels
from .store import RunStore


class EngineOptions(BaseModel):
    """Base of an engine's options; they come from `plugins: {ENGINE: {...}}` of the user's file."""

    model_config = ConfigDict(extra="forbid")


class EngineHost(Protocol):
    """What an engine gets from its host.

    Attributes:
        store: where the runs are kept.
        state: the state folder of this machine, with a folder for each run.
    """

    store: RunStore
    state: Path

    def execute(self, run_id: str) -> Coroutine[Any, Any, None]:
        """Work on a run in this event loop until it ends; the claim is taken and given back.

        Raises:
            UsageError, PluginError: it cannot begin, or go on; of a new run nothing is left.
        """
        ...

    def note_killed(self, run_id: str, reason: str) -> Awaitable[None]:
        """Write the end of a run whose process has died, `interrupted` with this reason."""
        ...


class Engine(TakesModels, ABC, Generic[OptionsT]):
    """Executes runs from the store.

    Example:
        >>> class Here(Engine):
        ...     name = "here"
        ...     def submit(self, run_id):
        ...         return asyncio.ensure_future(self.host.execute(run_id))
        >>> Here.needs
        frozenset()
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    needs: ClassVar[frozenset[str]] = frozenset()
    Options: type[EngineOptions] = EngineOptions

    def __init__(self, options: OptionsT, host: EngineHost) -> None:
        self.options = options
        self.host = host

    @abstractmethod
    def submit(self, run_id: str) -> asyncio.Future[None]:
        """See to it that the run executes; returns at once.

        One that was executed before goes on where its mailbox has a `Resume` that nobody has
        taken; else nothing happens.

        Returns:
            done when the run has ended, with the UsageError or PluginError that kept it from
            beginning. Cancelling it, or going away, does not end the run.
        """

    async def attach(self) -> None:
        """After a restart: take up what an earlier engine of this name has left running."""
        return None

    async def aclose(self) -> None:
        """Give back what this engine holds; what runs in this process ends as `interrupted`."""
        return None
