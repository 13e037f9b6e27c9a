"""The chat model that plays given turns, one after the other."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from retrai_core import ModelError

from .turns import Turn

_AT = re.compile(r"scripted-(\d+)(?:-\d+)?")
_USED_UP = Turn(text="The script is used up: nothing more to do.")


class ScriptedChat(BaseChatModel):
    """Answers with `turns` in order.

    The position stands in the ids of its answers and not here, so that a resumed run goes on where
    it was. A turn that failed left no answer, so the number of failures is read from `seen`.

    Attributes:
        turns: the answers.
        seen: the file in which each request is noted as one JSON line; None notes nothing, and
            then a turn that fails does so for good.
    """

    turns: tuple[Turn, ...]
    seen: Path | None = None

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model itself: what it asks for stands in its turns."""
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        index = max([_next_index(messages), self._failed_up_to()])
        turn = self.turns[index] if index < len(self.turns) else _USED_UP
        self._note(messages, index if turn.error else None)
        if turn.error:
            raise ModelError(turn.error, fatal=turn.fatal)
        message = AIMessage(
            # An empty answer without calls does not stay in a conversation, nor would its place.
            turn.text or ("" if turn.calls else "(nothing)"),
            id=f"scripted-{index}",
            tool_calls=[
                tool_call(name=call.name, args=call.args, id=f"scripted-{index}-{number}")
                for number, call in enumerate(turn.calls)
            ],
            usage_metadata={"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _note(self, messages: Sequence[BaseMessage], failed: int | None) -> None:
        if self.seen is None:
            return
        line = {"messages": [str(message.content) for message in messages], "failed": failed}
        with self.seen.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _failed_up_to(self) -> int:
        """The turn after the last one that failed; 0 where none did."""
        if self.seen is None or not self.seen.exists():
            return 0
        noted = [json.loads(line)["failed"] for line in self.seen.read_text("utf-8").splitlines()]
        return max((index + 1 for index in noted if index is not None), default=0)


def _next_index(messages: Sequence[BaseMessage]) -> int:
    """The turn after the last one among `messages`; 0 where there is none."""
    for message in reversed(messages):
        name = message.tool_call_id if isinstance(message, ToolMessage) else message.id
        found = _AT.fullmatch(name or "")
        if found:
            return int(found[1]) + 1
    return 0
