"""A resolved run: everything that a run is built from, before anything is built."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel

from ..config.model import NEEDS, RunConfig
from ..config.sources import ALIKE, Settings
from ..contracts.agent import Agent
from ..contracts.context import RunContext, drop_event
from ..contracts.goal import GoalBase
from ..contracts.llm import LLMProvider
from ..contracts.memory import MemoryStore
from ..contracts.sandbox import Sandbox
from ..contracts.tool import Tool
from ..errors import nearest
from ..events import AgentEvent
from ..plugins.catalog import Catalog
from ..plugins.record import PluginRecord
from ..workspace.interpreter import Interpreter
from ..workspace.safe_paths import SafeWorkspace

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Part(Generic[T_co]):
    """A plugin of a run: its record, its class, and its validated options."""

    record: PluginRecord
    cls: type[T_co]
    options: BaseModel


@dataclass(frozen=True)
class Notice:
    """A notice for the user about a decision of the resolver."""

    level: Literal["info", "warning"]
    message: str


@dataclass(kw_only=True)
class ResolvedRun:
    """Everything that a run is built from. A check or a single model call has only some parts.

    Attributes:
        config: the configuration, with goal, options and model filled in.
        settings: what it was made of, with the origin of each value.
        catalog: what is installed.
        interpreter: the Python that runs the project's code; None where nothing is run.
        notices: published at the start.
        attended: as `RunContext.attended`.
        sandboxes: those to try, the strictest first.
        goal: None where the agent needs none.
        goal_evidence: why this goal, when it was found from the project.
        input: what the agent is given.
        agent: what works; None where nothing does.
        provider: of the run's model.
        tools: those that are known before the run.
        memory: None where the project has none.
    """

    config: RunConfig
    settings: Settings
    catalog: Catalog
    interpreter: Interpreter | None = None
    notices: Sequence[Notice] = ()
    attended: bool = True
    sandboxes: Sequence[Part[Sandbox]] = ()
    goal: Part[GoalBase] | None = None
    goal_evidence: str = ""
    input: BaseModel | None = None
    agent: Part[Agent] | None = None
    provider: Part[LLMProvider] | None = None
    tools: Sequence[Part[Tool]] = field(default_factory=list[Part[Tool]])
    memory: Part[MemoryStore] | None = None

    @property
    def goal_name(self) -> str:
        """The goal's name: the plugin's, or that of a check of the project's own; may be empty."""
        return "" if self.goal is None else self.config.goal or self.goal.record.name

    @property
    def records(self) -> list[PluginRecord]:
        """The plugins of all parts, sorted by distribution."""
        parts = (self.goal, self.agent, self.provider, self.memory, *self.tools, *self.sandboxes)
        found = [part.record for part in parts if part is not None]
        return sorted(found, key=lambda record: record.dist)

    def rules_about_no_tool(self, offered: Collection[str]) -> Iterator[str]:
        """Warnings of rules under `permissions:` whose tool is neither installed nor offered.

        Args:
            offered: the run's tools, those that are known only at run time among them. A name with
                a dot is reported only where it looks like one of a plugin or server that offers
                tools.
        """
        known = sorted({*offered, *(record.name for record in self.catalog.records("tool"))})
        servers = {name.partition(".")[0] for name in offered if "." in name}
        for verdict, rule in self.config.rules():
            name = rule.partition(":")[0].strip()
            if rule.startswith(NEEDS) or name in known or self.config.leaves_out(name):
                continue
            server, dot, _ = name.partition(".")
            elsewhere = dot and not difflib.get_close_matches(server, servers, n=1, cutoff=ALIKE)
            if not elsewhere and not any(mark in name for mark in "*?["):
                about = f"permissions: {verdict}: `{rule}` is about no tool that is installed"
                yield f"{about}{nearest(name, known)}"

    def patterns_of_no_tool(self, offered: Collection[str]) -> Iterator[str]:
        """Warnings of patterns in `no_tools`, or with a minus in `tools`, that mean no tool.

        Args:
            offered: the tools that are known only at run time, those that were left out among them.
        """
        config = self.config
        known = sorted({*offered, *(record.name for record in self.catalog.records("tool"))})
        near = [*known, *sorted({f"{name.partition('.')[0]}.*" for name in known if "." in name})]
        for setting, patterns in (("no_tools", config.no_tools), ("tools", config.removed_tools)):
            for pattern in patterns:
                if not any(fnmatchcase(name, pattern) for name in known):
                    what = f"`{pattern}` means no tool that is installed{nearest(pattern, near)}"
                    yield f"{setting}: {what}{self.settings.origin(setting)}"

    def versions(self) -> dict[str, str]:
        """Version by distribution of every plugin that the run uses."""
        return {record.dist: record.version for record in self.records}


def make_context(
    config: RunConfig,
    run_dir: Path,
    *,
    python: str = sys.executable,
    attended: bool = True,
    on_event: Callable[[AgentEvent], None] = drop_event,
) -> RunContext:
    """The context of a run, or of a look at a project, before any part of it is built."""
    return RunContext(
        run_id=config.run_id,
        project=config.cwd,
        workspace=SafeWorkspace(config.cwd),
        python=python,
        run_dir=run_dir,
        model_name=config.model_name,
        task=config.task,
        context_tokens=config.context_tokens,
        max_iterations=config.max_iterations,
        hitl_enabled=config.hitl_enabled,
        stop_mode=config.stop_mode,
        attended=attended,
        permissions=config.permissions.model_dump() if config.permissions else {},
        mcp=config.mcp,
        on_event=on_event,
    )
