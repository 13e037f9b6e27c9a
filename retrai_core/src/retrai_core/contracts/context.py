"""The context that a plugin gets when it is built: its run, and the other parts of that run."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from ..events import AgentEvent, EventKind
from ..redaction.redactor import Redactor
from .question import APPROVE, REJECT, Answer, Choice, Question, QuestionKind, question_id
from .workspace import Workspace

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, ToolMessage

    from .goal import GoalBase, GoalResult
    from .llm import LLMProvider
    from .mcp_server import McpServer
    from .memory import MemoryStore
    from .sandbox import Sandbox
    from .tool import Tool


Asker = Callable[[Question], Awaitable[Answer | None]]
"""Asks a person, once for each question's id; None where nobody can be asked."""


async def ask_nobody(question: Question) -> Answer | None:
    """The asker of a context whose questions nobody answers."""
    return None


class TextReaders(Protocol):
    """The readers of the model's text as it arrives."""

    @property
    def has_readers(self) -> bool:
        """Whether anybody does now."""
        ...

    def send(self, message_id: str, text: str) -> None:
        """Hand on a piece of an answer; never waits."""
        ...


def drop_event(event: AgentEvent) -> None:
    """The publisher of a context that nobody listens to."""


class MissingPartError(RuntimeError):
    """A plugin used a part that is built after it."""


def _happened() -> Event:
    event = Event()
    event.set()
    return event


@dataclass
class RunContext:
    """Everything that belongs to one run; no other run sees it.

    Parts are built in this order, and each may use those before it: workspace, provider, sandbox,
    goal, tools, memory. A run's session sets them; in a test, pass only the ones you need.

    Attributes:
        run_id: the run's id.
        project: the absolute path of the project.
        workspace: the project's files.
        python: the interpreter that runs the project's code, as an absolute path; it may be older
            than ours and lack our packages.
        run_dir: the run's own folder, outside the project.
        model_name: as the user gave it (`offline`, `claude-sonnet-4-6`, `replay:run.jsonl`).
        input: what the caller gave the agent, as the agent's `Input` has it.
        task: the user's free text beside the goal; empty when there is none.
        goal_name: the goal's name in the configuration; empty in a run without a goal.
        baseline: what the check says before the first turn; None before it, and without a goal.
        context_tokens: how much of the project's tree and key files a first prompt may show.
        pending: in an agent's `resume`, the nodes that its graph has still to run.
        attended: somebody sees what the run says and can act on it (a login in a browser, say).
        permissions: the `permissions:` section of the configuration; empty when there is none.
        mcp: the servers of the `mcp:` section, by name; for the plugin that speaks to them.
        failure: what the first check found wrong, in one line; empty before it, and where the goal
            held.
        live: hands the model's text on as it comes; None where nobody could read it.
        redactor: knows the project's secrets, see `redact`.
        iteration: the current iteration, kept up to date by the agent's nodes.
        warmed_up: unset while the run's libraries are imported beside it. Two threads that import
            modules which import each other can end in Python's deadlock error, so `chat_model` and
            whoever asks for tools at run time wait for it.

    Example:
        >>> from retrai_core.workspace.safe_paths import SafeWorkspace
        >>> import sys, tempfile
        >>> from pathlib import Path
        >>> folder = Path(tempfile.mkdtemp())
        >>> context = RunContext("r1", folder, SafeWorkspace(folder), sys.executable, folder)
        >>> context.publish("log", level="info", message="nobody listens")
    """

    run_id: str
    project: Path
    workspace: Workspace
    python: str
    run_dir: Path
    model_name: str = ""
    input: Any = None
    task: str = ""
    goal_name: str = ""
    baseline: GoalResult | None = None
    context_tokens: int = 4000
    pending: tuple[str, ...] = ()
    max_iterations: int = 50
    hitl_enabled: bool = False
    stop_mode: Literal["soft", "hard"] = "soft"
    attended: bool = True
    permissions: Mapping[str, Any] = field(default_factory=dict[str, Any])
    mcp: Mapping[str, McpServer] = field(default_factory=dict[str, "McpServer"])
    on_event: Callable[[AgentEvent], None] = drop_event
    asker: Asker = ask_nobody
    live: TextReaders | None = None
    redactor: Redactor = field(default_factory=Redactor)
    failure: str = ""
    iteration: int = 0
    tools: dict[str, Tool] = field(default_factory=dict[str, "Tool"])
    sandbox_part: Sandbox | None = None
    goal_part: GoalBase | None = None
    provider_part: LLMProvider | None = None
    memory_part: MemoryStore | None = None
    models_part: Callable[[str, float, str | None], BaseChatModel] | None = None
    counting_part: Callable[[BaseChatModel, str, LLMProvider], BaseChatModel] | None = None
    agent_model_part: Callable[[bool], BaseChatModel] | None = None
    calling_part: Callable[[AIMessage], Awaitable[list[ToolMessage]]] | None = None
    warmed_up: Event = field(default_factory=_happened)

    @property
    def sandbox(self) -> Sandbox:
        """Where every process of this run is started."""
        if self.sandbox_part is None:
            raise MissingPartError("this context has no sandbox yet")
        return self.sandbox_part

    @property
    def goal(self) -> GoalBase:
        """The goal of this run."""
        if self.goal_part is None:
            raise MissingPartError("this context has no goal yet")
        return self.goal_part

    @property
    def provider(self) -> LLMProvider:
        """The provider of this run's model."""
        if self.provider_part is None:
            raise MissingPartError("this context has no model provider yet")
        return self.provider_part

    def redact(self, text: str) -> str:
        """The text without secrets: of the project's `.env` and key files, the environment, and
        tokens by their form. Tool results, events and the goal's words are redacted by the core;
        a plugin that shows the project's texts to a model itself must ask for it."""
        return self.redactor.text(text)

    def model(self, *, tools: bool = True) -> BaseChatModel:
        """The run's chat model, for an agent's nodes: await its `ainvoke`.

        What it is sent is redacted. Its calls count towards the run's tokens, cost and limits, and
        are told as `llm_usage`; where a call may go beyond a limit, it is not made, and the run
        ends as `budget`. Each tool call in an answer has an id of its own; one that is malformed
        has no arguments.

        Args:
            tools: whether it may call the run's tools; `call_tools` makes the calls.
        """
        if self.agent_model_part is None:
            raise MissingPartError("this context has no model yet")
        return self.agent_model_part(tools)

    async def call_tools(self, message: AIMessage) -> list[ToolMessage]:
        """Make the tool calls of a model's answer: gates, journal, sandbox and redaction included.

        Those that only read are made side by side. A call that fails or is refused is a result
        too. A call that a node has made is not made again when the node runs again after a kill;
        for that the answer must come from an earlier node.

        Args:
            message: the answer, as `model()` gave it.

        Returns:
            the results, in the order of the calls; none where there are no calls.
        """
        if self.calling_part is None:
            raise MissingPartError("this context can call no tools yet")
        return await self.calling_part(message)

    def progress(self, name: str, data: Mapping[str, Any] | None = None) -> None:
        """Publish a `progress` event of the agent's own: a plan, a part of the answer.

        Args:
            name: what it is, for programs.
            data: JSON values.
        """
        self.publish("progress", name=name, data=dict(data or {}))

    def wants_deltas(self) -> bool:
        """Whether somebody reads the model's text as it comes."""
        return self.live is not None and self.live.has_readers

    def chat_model(
        self, name: str = "", temperature: float = 0.0, *, api_key: str | None = None
    ) -> BaseChatModel:
        """A chat model beside the agent's: a goal's judge, say.

        Its calls count towards the run's tokens, cost and limits; where a call may go beyond one,
        it is not made, and the run ends as `budget`. Await its `ainvoke`; `invoke` is for a thread
        of one's own, since the run's event loop would wait for itself.

        Args:
            name: any model that an installed provider knows; the run's own when left out.
            temperature: its temperature.
            api_key: a key for this model alone, in the place of the user's own.

        Raises:
            UsageError: nobody knows the model, or it is not ready (a key is missing).
            PluginError: its provider takes no key for a single call.
        """
        self.warmed_up.wait()
        name = name or self.model_name
        if self.provider_part is not None and name == self.model_name:
            from .llm import create_model  # which imports this module

            made = create_model(self.provider_part, name, temperature, self, api_key)
            return self.counted(made, name, self.provider_part)
        if self.models_part is None:
            raise MissingPartError("this context can make no model")
        return self.models_part(name, temperature, api_key)

    def counted(self, model: BaseChatModel, name: str, provider: LLMProvider) -> BaseChatModel:
        """The model with its calls counted; as it is where nothing is counted, in a test say."""
        return self.counting_part(model, name, provider) if self.counting_part else model

    async def ask(
        self,
        key: str,
        text: str,
        *,
        choices: Sequence[Choice] = (APPROVE, REJECT),
        takes_text: bool = False,
        data: Mapping[str, Any] | None = None,
        kind: QuestionKind = "question",
    ) -> Answer | None:
        """Ask a person and wait for the answer, without counting the time against `max_time`.

        Args:
            key: the same when the step runs again, so that a stored answer is found: `act/3/1`.
            text: what is asked, in a sentence.
            choices: what can be answered; none where only words are asked for.
            takes_text: whether words beside the choice are read.
            data: what it is about, JSON values.
            kind: an agent's own questions are of the kind `question`.

        Returns:
            the answer; None where nobody can be asked.

        Raises:
            ValueError: the key is none (letters, digits, `_`, `-` and slashes).
        """
        return await self.asker(
            Question(
                id=question_id(key),
                run_id=self.run_id,
                kind=kind,
                text=self.redact(text),
                choices=choices,
                takes_text=takes_text or not choices,
                data=cast("Mapping[str, Any]", self.redactor.value(dict(data or {}))),
                asked_at=time.time(),
            )
        )

    def publish(self, kind: EventKind, **payload: Any) -> None:
        """Tell everyone who listens; never blocks and never raises for a slow listener."""
        self.on_event(AgentEvent(kind, self.run_id, self.iteration, payload))
