"""The prompt of a step: what fits into the model's window, the most important first."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from retrai_core import RetraiError, WorkspaceError

from . import prompts
from .files import MAX_FILE_BYTES, ProjectFiles, Snippet, split_mentions
from .parsing import render_call
from .pins import PinStore
from .schemas import StepRequest, Turn
from .tokens import TokenCounter
from .vectors import SearchError, best_results, search_project

MAX_TURNS = 6
"""Of the history, the last ones."""
_FULL_AT = 0.95
_LEAST_CUT = 100
"""Tokens that must remain for an item to be cut instead of left out."""
_MESSAGE_TOKENS = 4
"""What a message costs beside its text, in the formats of the providers."""
_MOST_CHARACTERS = 16
"""A token has hardly ever more: what is longer is cut before it is counted."""
_CUT = "\n[cut]"
_MAX_WARNINGS = 50
_LOG = logging.getLogger("retrai_react")


class Projects(Protocol):
    """The server's projects."""

    def __contains__(self, project: object) -> bool:
        """Whether a project is registered."""
        ...

    def folder(self, project: uuid.UUID) -> Path:
        """Its folder."""
        ...


class PromptTooLongError(Exception):
    """Not even the shortest prompt fits."""


@dataclass
class Prompt:
    """What the model reads.

    Attributes:
        messages: the conversation.
        tokens: how many it has.
        warnings: what was left out, in one line each.
    """

    messages: list[BaseMessage]
    tokens: int = 0
    warnings: list[str] = field(default_factory=list[str])


class PromptBuilder:
    """Builds prompts. Its methods read files: call them in a thread.

    Args:
        projects: the server's projects.
        pins: the pinned items.
    """

    def __init__(self, projects: Projects, pins: PinStore) -> None:
        self._projects = projects
        self._pins = pins

    def build(self, request: StepRequest) -> Prompt:
        """The prompt of a step.

        Raises:
            PromptTooLongError: its token limit is too small for any.
        """
        config = request.llm_config
        limit = config.token_limit - config.reserved_output_tokens
        counter = TokenCounter.of(config.model_name)
        query, mentioned = split_mentions(request.user_query)
        try:
            return _Building(self, request, query, mentioned, _Budget(counter, limit)).prompt()
        except PromptTooLongError:
            raise
        except Exception:  # noqa: BLE001 - the question is worth more than what stands around it
            _LOG.warning("a minimal prompt goes out: the context cannot be built", exc_info=True)
            prompt = _minimal(request, query, _Budget(TokenCounter(), limit))
            prompt.warnings.append("the context could not be built: the query alone was sent")
            return prompt

    def files_of(self, project: uuid.UUID) -> ProjectFiles:
        """A project's files.

        Raises:
            RetraiError: it is not registered, or gone.
        """
        return ProjectFiles(self.folder_of(project))

    def folder_of(self, project: uuid.UUID) -> Path:
        """A project's folder.

        Raises:
            RetraiError: it is not registered, or gone.
        """
        return self._projects.folder(project)

    def knows(self, project: uuid.UUID) -> bool:
        """Whether a project is registered."""
        return project in self._projects

    def pinned(self, project: uuid.UUID) -> Mapping[str, dict[str, Any]]:
        """A project's pinned items by id."""
        return {item["id"]: item for item in self._pins.list(project)}


class _Budget:
    """The tokens that are left."""

    def __init__(self, counter: TokenCounter, tokens: int) -> None:
        self._counter = counter
        self._all = tokens
        self.used = 0

    def anew(self) -> _Budget:
        """The same with nothing used."""
        return _Budget(self._counter, self._all)

    @property
    def left(self) -> int:
        return self._all - self.used

    @property
    def is_full(self) -> bool:
        return self.used >= _FULL_AT * self._all

    @property
    def most_bytes(self) -> int:
        """So many bytes of one item may still be read."""
        return max(0, min(MAX_FILE_BYTES, self.left * _MOST_CHARACTERS))

    def add_whole(self, text: str) -> None:
        """Count a text that cannot be cut.

        Raises:
            PromptTooLongError: it does not fit.
        """
        self.used += self._counter.count(text) + _MESSAGE_TOKENS
        if self.left < 0:
            raise PromptTooLongError

    def add(self, text: str, *, must: bool = False) -> str:
        """As much of the text as fits; empty where it is left out.

        Raises:
            PromptTooLongError: it must be there and does not fit.
        """
        if self.is_full and not must:
            return ""
        short = text[: max(0, self.left) * _MOST_CHARACTERS]
        needed = self._counter.count(short) + _MESSAGE_TOKENS
        if needed > self.left or len(short) < len(text):
            if self.left <= _LEAST_CUT:
                if must:
                    raise PromptTooLongError
                return ""
            room = self.left - _MESSAGE_TOKENS - 2 * len(_CUT)
            short = self._counter.cut(short, room) + _CUT
            needed = self._counter.count(short) + _MESSAGE_TOKENS
        self.used += needed
        return short


class _Building:
    """One prompt while it is built."""

    def __init__(
        self,
        builder: PromptBuilder,
        request: StepRequest,
        query: str,
        mentioned: Sequence[str],
        budget: _Budget,
    ) -> None:
        self._builder = builder
        self._request = request
        self._query = query
        self._paths = list(dict.fromkeys([*request.explicit_context_paths, *mentioned]))
        self._budget = budget
        self._warnings: list[str] = []
        self._has_files = builder.knows(request.project_id)

    def prompt(self) -> Prompt:
        request, budget = self._request, self._budget
        is_last = request.max_iterations_left == 0
        frame = prompts.LAST_STEP if is_last else prompts.SYSTEM.format(tools="")
        try:
            budget.add_whole(frame)
            query = budget.add(self._asked(is_last), must=True)
        except PromptTooLongError:
            return self._minimal()
        if query.endswith(_CUT):
            self._warn("the query was cut: it is longer than the token limit allows")
        system = frame
        if not is_last:
            segment = request.available_tools_prompt_segment.strip() or prompts.NO_TOOLS
            tools = budget.add(segment)
            system = prompts.SYSTEM.format(tools=tools or prompts.NO_TOOLS)
            if tools != segment:
                self._warn("the tools segment was cut: it is longer than the token limit allows")
        if not self._has_files:
            self._warn(f"no project {request.project_id} is registered: no files were read")
        files = [*self._filled("explicit path", self._explicit())]
        pinned = [*self._filled("pinned item", self._pinned())]
        turns = self._turns()
        found = [*self._filled("search result", self._vectors())]
        focused = [] if self._paths else [*self._filled("focused file", self._implicit())]
        context = "".join([*files, *pinned, *found, *focused])
        messages = _alternating(system, [*turns, HumanMessage(f"{context}{query}")])
        return Prompt(messages, budget.used, self._warnings)

    def _minimal(self) -> Prompt:
        prompt = _minimal(self._request, self._query, self._budget.anew())
        prompt.warnings = [*self._warnings, "only a minimal prompt fits into the token limit"]
        return prompt

    def _asked(self, is_last: bool) -> str:
        query = self._query.strip() or prompts.NO_QUERY
        return f"{query}\n\n{prompts.LAST_QUERY}" if is_last else query

    def _warn(self, line: str) -> None:
        _LOG.warning("session %s: %s", self._request.session_id, line)
        if len(self._warnings) < _MAX_WARNINGS:
            self._warnings.append(line)

    def _filled(
        self, kind: str, sources: Iterator[tuple[str, Callable[[], Iterator[Snippet]]]]
    ) -> Iterator[str]:
        """The sections of one kind that fit; a source that fails is left out."""
        for name, read in sources:
            if self._budget.is_full:
                self._warn(f"{kind} {name}: left out, the token limit is reached")
                return
            try:
                for snippet in read():
                    section = self._budget.add(f"# {snippet.title}\n{snippet.text.rstrip()}\n\n")
                    if section:
                        yield section if section.endswith("\n\n") else f"{section}\n\n"
            except (RetraiError, OSError, ValueError, SearchError) as error:
                self._warn(f"{kind} {name}: left out, {_reason(error)}")

    def _explicit(self) -> Iterator[tuple[str, Callable[[], Iterator[Snippet]]]]:
        if not self._has_files:
            return
        for path in self._paths:
            yield path[:200], lambda path=path: self._snippets(path)

    def _snippets(self, path: str) -> Iterator[Snippet]:
        files = self._builder.files_of(self._request.project_id)
        yield from files.snippets(path, self._budget.most_bytes)

    def _pinned(self) -> Iterator[tuple[str, Callable[[], Iterator[Snippet]]]]:
        wanted = self._request.pinned_item_ids_to_include
        if not wanted:
            return
        items = self._builder.pinned(self._request.project_id)
        for pin in dict.fromkeys(wanted):
            yield pin[:64], lambda pin=pin: self._pin(items.get(pin))

    def _pin(self, item: dict[str, Any] | None) -> Iterator[Snippet]:
        if item is None:
            raise WorkspaceError("there is no such item")
        if item["type"] == "text":
            yield Snippet(item["title"] or "pinned text", item["text"])
            return
        files = self._builder.files_of(self._request.project_id)
        start, end = item["start_line"], item["end_line"]
        last = end or 10**9
        title = f"{item['path']}:{start}-{end or ''}" if start > 1 or end else item["path"]
        yield Snippet(title, files.lines(item["path"], start, last))

    def _turns(self) -> list[BaseMessage]:
        """The last turns of the history that fit, the newest being the most important."""
        found: list[BaseMessage] = []
        for turn in reversed(self._request.conversation_history[-MAX_TURNS:]):
            text = self._budget.add(_turn_text(turn))
            if not text:
                self._warn("earlier turns: left out, the token limit is reached")
                break
            cls = AIMessage if turn.role == "assistant" else HumanMessage
            found.append(cls(_clean(text)))
        return found[::-1]

    def _vectors(self) -> Iterator[tuple[str, Callable[[], Iterator[Snippet]]]]:
        request = self._request
        results = request.vector_search_results_to_include
        for number, each in enumerate(best_results(results), 1):
            yield str(number), lambda each=each: iter([each])
        if request.llm_config.vector_search and not results and self._has_files and self._query:
            folder = self._builder.folder_of(request.project_id)
            yield "of the index", lambda: iter(search_project(folder, self._query))

    def _implicit(self) -> Iterator[tuple[str, Callable[[], Iterator[Snippet]]]]:
        focus = self._request.implicit_context
        path = focus.last_focused_file_path if focus is not None else None
        if path and self._has_files:
            yield path[:200], lambda: self._snippets(path)


def _minimal(request: StepRequest, query: str, budget: _Budget) -> Prompt:
    """The shortest prompt that means something.

    Raises:
        PromptTooLongError: it does not fit either.
    """
    is_last = request.max_iterations_left == 0
    words = prompts.LAST_STEP if is_last else prompts.MINIMAL.format(form=prompts.FORM)
    budget.add_whole(words)
    asked = budget.add(query.strip() or prompts.NO_QUERY, must=True)
    return Prompt([SystemMessage(words), HumanMessage(_clean(asked))], budget.used)


def _turn_text(turn: Turn) -> str:
    if turn.role == "assistant" and turn.tool_call is not None:
        call = render_call(turn.tool_call.name, turn.tool_call.parameters)
        return f"Thought: {turn.content}\nAction: {call}"
    if turn.role != "tool_observation":
        return turn.content
    result = turn.tool_result
    text = turn.content or ("" if result is None else str(result.result))
    failed = result is not None and not result.success
    return f"Observation{' (the tool failed)' if failed else ''}: {text}"


def _alternating(system: str, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Messages as every provider takes them: the user first, then turn by turn."""
    found: list[BaseMessage] = [SystemMessage(_clean(system))]
    for message in messages:
        last = found[-1]
        text = _clean(message.text) or "(empty)"
        if type(last) is type(message):
            found[-1] = type(message)(content=f"{last.text}\n\n{text}")
            continue
        if isinstance(last, SystemMessage) and isinstance(message, AIMessage):
            found.append(HumanMessage("(earlier turns are left out)"))
        found.append(type(message)(content=text))
    return found


def _clean(text: str) -> str:
    """Without half surrogate pairs, which no provider takes."""
    return text.encode("utf-8", "replace").decode()


def _reason(error: Exception) -> str:
    return error.message if isinstance(error, RetraiError) else str(error)
