"""An event sink: receives every event of a run, and cannot harm the run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic

from pydantic import BaseModel, ConfigDict

from ..events import AgentEvent
from .models import OptionsT, TakesModels


@dataclass(frozen=True, slots=True)
class RunInfo:
    """Identifies the run of a sink.

    Attributes:
        run_id: the run's id.
        goals: the names of its goals; empty for an agent that needs none.
        agent: the agent's name.
        model: as the user gave it.
        project: the absolute path of the project.
    """

    run_id: str
    goals: tuple[str, ...]
    agent: str
    model: str
    project: Path


class SinkOptions(BaseModel):
    """Base of a sink's options; they come from `plugins: {SINK: {...}}`."""

    model_config = ConfigDict(extra="forbid")


class EventSink(TakesModels, ABC, Generic[OptionsT]):
    """Receives the events of a run: for a log, a dashboard, or a message at the end.

    Each installed sink has one instance per run, with a thread of its own. All its methods,
    including the constructor, are called in that thread and may block. An exception is reported
    once as a warning; the sink is then closed and receives no more events. After the run has ended,
    it has five seconds for the remaining events. `start` and `on_event` may be `async def`.

    Example:
        >>> class Done(EventSink):
        ...     name = "done"
        ...     summary = "say how a run ended"
        ...     def on_event(self, event):
        ...         if event.kind == "run_end":
        ...             print(f"{self.run.model}: {event.payload['status']}")
        >>> sink = Done(SinkOptions())
        >>> sink.start(RunInfo("r1", ("pytest",), "goal-loop", "offline", Path("/project")))
        >>> sink.on_event(AgentEvent("run_end", "r1", 3, {"status": "achieved"}))
        offline: achieved
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    needs: ClassVar[frozenset[str]] = frozenset()
    Options: type[SinkOptions] = SinkOptions

    def __init__(self, options: OptionsT) -> None:
        self.options = options

    def start(self, run: RunInfo) -> Awaitable[None] | None:
        """Called once, before the first event; keeps `run` as `self.run`."""
        self.run = run
        return None

    @abstractmethod
    def on_event(self, event: AgentEvent) -> Awaitable[None] | None:
        """Hear one event; they come in order. The sink may change what it gets: it is a copy."""

    async def aclose(self) -> None:
        """Give back what this sink holds; called once, also after `start` or `on_event` failed."""
        return None
