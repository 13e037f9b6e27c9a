"""The chat model that answers the prompts of the agent `research` without a model.

It plans two steps: search, then follow calls and read the best match. It calls the same tools as
any model, and its answer is made of what they returned (`digest`). It reads what a request is about
from the request's data, not from its words, which a user may have replaced.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, cast

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
    UsageMetadata,
)
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from .digest import SHOWN, Gathered, best, gather, parts_of, write_digest
from .found import Named
from .question import Question
from .steps import REQUEST

SEARCH_STEP = "Search the definitions that match the question"
FOLLOW_STEP = "Follow the calls of the best matches, and read the first"
NOT_ASKED = (
    "The model `extractive` answers only the agent `research`. Choose another model with --model."
)
NO_MODEL = (
    "*No model wrote this answer: no key is set. It shows the definitions that match the question "
    "best, from the code index. With a key, or with `-m MODEL`, a model answers.*"
)
_HITS = 20
_FOLLOWED = 5
_READ_LINES = 60

Call = tuple[str, Mapping[str, Any]]


class ExtractiveModel(BaseChatModel):
    """Answers the nodes of the agent `research`.

    Attributes:
        tool_names: what this run offers; None as long as nothing is bound.
    """

    tool_names: frozenset[str] | None = None

    @property
    def _llm_type(self) -> str:
        return "retrai-extractive"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """This model, with the tools that it may ask for."""
        names = frozenset(str(convert_to_openai_tool(tool)["function"]["name"]) for tool in tools)
        return cast(
            "Runnable[LanguageModelInput, AIMessage]",
            self.model_copy(update={"tool_names": names}),
        )

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.answer(messages))])

    def answer(self, messages: Sequence[BaseMessage]) -> AIMessage:
        """What the node that asks is answered."""
        about = next((a for m in reversed(messages) if (a := _about(m)) is not None), None)
        if about is None:
            return _message(NOT_ASKED)
        question, findings = str(about["question"]), cast("dict[str, str]", about["findings"])
        earlier = cast("list[str]", about["earlier"])
        if about["node"] == "planner":
            return _message(json.dumps([SEARCH_STEP, FOLLOW_STEP]))
        if about["node"] == "refinery":
            left = int(about["steps_left"]) > 0
            decision = "CONTINUE" if left else "FINISH"
            reason = "steps of the plan are left" if left else "the plan is done"
            return _message(json.dumps({"decision": decision, "reason": reason}))
        if about["node"] == "synthesizer":
            return _message(f"{write_digest(question, findings, earlier)}\n\n{NO_MODEL}")
        if any(isinstance(message, ToolMessage) for message in messages):
            return _message("")  # the step's calls have been made
        gathered = gather(findings)
        parts = parts_of(question, earlier, gathered)
        if about["step"] == FOLLOW_STEP and (gathered.searches or gathered.unknown):
            return self._calling(_following(parts, gathered))
        return self._calling(_searching(parts, gathered.mentioned))

    def _calling(self, calls: Sequence[Call]) -> AIMessage:
        known = self.tool_names
        made = [call for call in calls if known is None or call[0] in known]
        return _message("", *made)


def _searching(parts: Sequence[Question], paths: Iterable[str]) -> list[Call]:
    """The searches for each part of a question, and an outline of each file that it mentions."""
    files = [path for path in paths if PurePosixPath(path).suffix]
    outlines: list[Call] = [("get_module_summary", {"path": path}) for path in files]
    named: list[Call] = [
        ("get_symbol_definition", {"name": name}) for part in parts for name in part.names
    ]
    searches: list[Call] = [
        ("search_codebase", {"query": query, "n_results": _HITS})
        for part in parts
        for query in part.queries
    ]
    return [*outlines, *named, *searches]


def _following(parts: Sequence[Question], gathered: Gathered) -> list[Call]:
    """What says more of the best matches, and of the names that unknown ones are taken for."""
    top = [each.named for each in best(parts, gathered)][:_FOLLOWED]
    meant = [_name_of(similar[0]) for similar in gathered.unknown.values() if similar]
    defined = [_name_of(each) for each in top if each.symbol and each.kind != "module"]
    asks_for_subclasses = any("subclass" in part.relations for part in parts)
    described = [*meant, *(defined if asks_for_subclasses else ())]
    return [
        *(("get_symbol_definition", {"name": name}) for name in described),
        *(
            (tool, {"function_name": name})
            for name in dict.fromkeys([*meant, *defined])
            for tool in ("get_callers", "get_callees")
        ),
        *(("read_file", _lines_of(each)) for each in top[:SHOWN]),
    ]


def _about(message: BaseMessage) -> dict[str, Any] | None:
    is_request = isinstance(message, HumanMessage) and REQUEST in message.additional_kwargs
    return cast("dict[str, Any]", message.additional_kwargs[REQUEST]) if is_request else None


def _name_of(named: Named) -> str:
    return f"{named.place.path}:{named.symbol}"


def _lines_of(named: Named) -> dict[str, object]:
    place = named.place
    last = min(place.end, place.start + _READ_LINES - 1)
    return {"file_path": place.path, "start_line": place.start, "end_line": last}


def _message(text: str, *calls: Call) -> AIMessage:
    return AIMessage(
        content=text,
        tool_calls=[
            ToolCall(name=name, args=dict(args), id=f"extractive-{number}")
            for number, (name, args) in enumerate(calls, 1)
        ],
        usage_metadata=UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0),
    )
