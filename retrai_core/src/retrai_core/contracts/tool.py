"""A tool: a function that the model can call by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypeVar

from .context import RunContext
from .models import TakesModels


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call.

    Attributes:
        content: the text the model reads; `act` cuts it at the tool's `max_chars`.
        ok: False when the tool could not do what it was asked; the model reads why in `content`.
        data: structured values for frontends and tests; never sent to the model.
    """

    content: str
    ok: bool = True
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])


class ToolOptions(BaseModel):
    """Base of a tool's options (its limits, above all); unknown keys are errors.

    They come from `plugins: {TOOL: {...}}` in the configuration.
    """

    model_config = ConfigDict(extra="forbid")

    max_chars: int = 8000
    """Maximum length of a result, in characters."""
    limit_s: float = 900.0
    """Hard limit for a call, in seconds; the tool's own time-out is shorter."""


class ToolArgs(BaseModel):
    """Base of a tool's arguments; the model reads the description of each field."""

    model_config = ConfigDict(extra="forbid")


ArgsT = TypeVar("ArgsT", bound=ToolArgs, default=Any)
ToolOptionsT = TypeVar("ToolOptionsT", bound=ToolOptions, default=Any)


class Tool(TakesModels, ABC, Generic[ArgsT, ToolOptionsT]):
    """A function that the model can call. One instance serves one run.

    Files and processes are touched only through `context.workspace` and `context.sandbox`.
    `run` raises `ToolError` or `WorkspaceError` with a message for the model; `act` turns every
    exception into a result, so that a broken tool never ends a run. Calls of a tool whose `needs`
    are within `{"read"}` (or `{"read", "network"}`) may run side by side.

    Example:
        >>> import asyncio
        >>> class CountArgs(ToolArgs):
        ...     text: str
        >>> class Count(Tool[CountArgs]):
        ...     name = "count"
        ...     description = "Count the characters of a text."
        ...     needs = frozenset()
        ...     async def run(self, args, context):
        ...         return ToolResult(str(len(args.text)))
        >>> tool = Count(ToolOptions(), context=None)
        >>> asyncio.run(tool.run(CountArgs(text="four"), None)).content
        '4'
    """

    name: ClassVar[str]
    description: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset({"read"})
    programs: ClassVar[Sequence[str]] = ()
    """What must be on PATH (`git`); `retrai plugins doctor` looks for it without an import."""
    offered: ClassVar[Literal["always", "by_goal"]] = "by_goal"
    """`always`: every run has it once it is installed, but one whose `tools:` is a plain list (one
    that needs the network: unless the sandbox's `network` is off). `by_goal`: a run has it where
    its goal or the user names it."""
    _models = ("Args", "Options")
    Args: type[ToolArgs] = ToolArgs
    Options: type[ToolOptions] = ToolOptions

    def __init__(self, options: ToolOptionsT, context: RunContext) -> None:
        self.options = options
        self.context = context

    @property
    def max_chars(self) -> int:
        """Maximum length of a result, in characters."""
        return self.options.max_chars

    def summary(self, args: ArgsT) -> str:
        """One short line for people that says what a call does; the first argument by default."""
        values = args.model_dump(exclude_defaults=True).values()
        return next((str(value) for value in values), "")

    @abstractmethod
    async def run(self, args: ArgsT, context: RunContext) -> ToolResult:
        """Do it. `args` is an instance of `Args`, already validated.

        Raises:
            ToolError: it could not be done, and the model should know why.
            WorkspaceError: a path was refused.
        """

    async def aclose(self) -> None:
        """Give back what this tool holds; called once, also after a failed run."""
        return None
