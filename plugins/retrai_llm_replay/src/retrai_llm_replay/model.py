"""The chat model that answers with recorded decisions, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    InvalidToolCall,
    ToolCall,
    ToolMessage,
    UsageMetadata,
)
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from retrai_core import GAVE_UP, ModelError

from .recording import Decision, RecordedCall

MESSAGE_ID = re.compile(r"replay-(?P<index>\d+)")
CALL_ID = re.compile(r"replay-(?P<index>\d+)-\d+")
EMPTY = "(The recorded answer was empty.)"
HANDED_IN = "The recorded run handed in its work here."


class ReplayModel(BaseChatModel):
    """Answers with the decisions of a record, in order.

    The position is not kept here but in the answers: each carries its index in its id and in the
    ids of its calls, and the next one follows the last index among the messages it is given. So a
    window that shows only the newest messages, and a resumed run, go on where the run stands.

    Attributes:
        decisions: the answers, in order.
        translate: turns a recorded call into one of this run (tool names, paths).
        source: the record's path, for the last message.
        submitted: the recorded run handed in its work at the end.
        end_is_error: raise when the record is used up, instead of saying so.
    """

    decisions: tuple[Decision, ...]
    translate: Callable[[RecordedCall], RecordedCall]
    source: str
    submitted: bool = False
    end_is_error: bool = False

    @property
    def _llm_type(self) -> str:
        return "replay"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model itself: what it asks for was decided when the run was recorded."""
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.answer(messages))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        # The base class would hand `_generate` to a thread; there is nothing to wait for here.
        return self._generate(messages, stop)

    def answer(self, messages: Sequence[BaseMessage]) -> AIMessage:
        """The answer that follows the last recorded one among `messages`.

        Raises:
            ModelError: the record is used up and `end_is_error` is set.
        """
        index = next_index(messages)
        if index >= len(self.decisions):
            return self.end_message(index)
        decision = self.decisions[index]
        calls = [self.translate(call) for call in decision.calls]
        # Recorded ids may repeat from answer to answer, and a run's journal needs unique ones.
        return message_at(
            index,
            decision.text or self.stand_in(index, decision),
            [
                ToolCall(name=call.name, args=call.args, id=f"replay-{index}-{number}")
                for number, call in enumerate(calls)
            ],
            [
                InvalidToolCall(
                    type="invalid_tool_call",
                    name=call.name,
                    args=call.raw_args,
                    id=f"replay-{index}-{len(calls) + number}",
                    error="the recorded arguments are not a JSON object",
                )
                for number, call in enumerate(decision.malformed)
            ],
            decision.finish_reason,
        )

    def stand_in(self, index: int, decision: Decision) -> str:
        """The text of an answer without one; never empty where nothing else would be left of it.

        An empty answer does not stay in the conversation, and the position would be lost with it.
        """
        if self.submitted and index == len(self.decisions) - 1:
            return HANDED_IN
        return "" if decision.calls or decision.malformed else EMPTY

    def end_message(self, index: int) -> AIMessage:
        text = (
            f"The record {self.source} is used up: all of its {len(self.decisions)} answers have "
            "been replayed, and there is nothing more to try."
        )
        if self.end_is_error:
            raise ModelError(text, hint="another --model can take over from here", fatal=True)
        return message_at(index, text, [], [], GAVE_UP)


def next_index(messages: Sequence[BaseMessage]) -> int:
    """The index after the last recorded answer among `messages`; 0 where there is none."""
    for message in reversed(messages):
        index = recorded_index(message)
        if index is not None:
            return index + 1
    return 0


def recorded_index(message: BaseMessage) -> int | None:
    """The index of the answer that this message is, or that the tool result belongs to."""
    if isinstance(message, AIMessage):
        found = MESSAGE_ID.fullmatch(message.id or "")
    elif isinstance(message, ToolMessage):
        found = CALL_ID.fullmatch(message.tool_call_id)
    else:
        return None
    return int(found["index"]) if found else None


def message_at(
    index: int,
    text: str,
    calls: list[ToolCall],
    invalid: list[InvalidToolCall],
    finish_reason: str | None = None,
) -> AIMessage:
    return AIMessage(
        content=text,
        tool_calls=calls,
        invalid_tool_calls=invalid,
        id=f"replay-{index}",
        response_metadata={"finish_reason": finish_reason} if finish_reason else {},
        # Nothing is sent to anyone, so nothing is billed: recorded usage would be counted twice.
        usage_metadata=UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0),
    )
