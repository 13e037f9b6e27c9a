"""The chat model that answers the prompts of the agent `research` without a model.

It plans two steps: search, then follow calls and read the best match. It calls the same tools as
any model, and its answer is made of what they returned (`digest`). It reads what a request is about
from the request's data, not from its words, which a user may have replaced.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
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

from .digest import SHOWN, best, gather, write_digest
from .found import Named
from .ranking import identifiers_of, queries_of
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
        if about["node"] == "planner":
            return _message(json.dumps([SEARCH_STEP, FOLLOW_STEP]))
        if about["node"] == "refinery":
            left = int(about["steps_left"]) > 0
            decision = "CONTINUE" if left else "FINISH"
            reason = "steps of the plan are left" if left else "the plan is done"
            return _message(json.dumps({"decision": decision, "reason": reason}))
        if about["node"] == "synthesizer":
            return _message(f"{write_digest(question, findings)}\n\n{NO_MODEL}")
        return self._step(question, str(about["step"]), findings, messages)

    def _step(
        self,
        question: str,
        step: str,
        findings: Mapping[str, str],
        messages: Sequence[BaseMessage],
    ) -> AIMessage:
        """Calls of the step; without a call once they have been made."""
        if any(isinstance(message, ToolMessage) for message in messages):
            return _message("")
        gathered = gather(findings)
        if step != FOLLOW_STEP or not gathered.searches:
            calls = [
                *(("get_symbol_definition", {"name": each}) for each in identifiers_of(question)),
                *(
                    ("search_codebase", {"query": query, "n_results": _HITS})
                    for query in queries_of(question)
                ),
            ]
            return self._calling(calls)
        top = [each.named for each in best(question, gathered) if each.named.symbol][:_FOLLOWED]
        calls = [
            (tool, {"function_name": _name_of(each)})
            for each in top
            if each.kind != "module"
            for tool in ("get_callers", "get_callees")
        ]
        calls += [("read_file", _lines_of(each)) for each in top[:SHOWN]]
        return self._calling(calls)

    def _calling(self, calls: Sequence[Call]) -> AIMessage:
        known = self.tool_names
        made = [call for call in calls if known is None or call[0] in known]
        return _message("", *made)


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
