"""The model's text as it comes, where somebody reads it."""

from __future__ import annotations

from typing import Any, cast

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.runnables import RunnableLambda

from retrai_core import RunContext
from retrai_core.agents.deltas import answer_of
from retrai_core.plugins.error_attribution import WrongAnswerError

CALL = {"name": "look", "args": {"path": "a.txt"}, "id": "c0"}


class Readers:
    """As much of a run as an answer needs, with somebody who reads its text."""

    def __init__(self, *, listen: bool = True) -> None:
        self.heard: list[tuple[str, str]] = []
        self.has_readers = listen
        self.context = cast("Any", RunContext)("r1", None, None, "", None, live=self)

    def send(self, message_id: str, text: str) -> None:
        self.heard.append((message_id, text))

    async def ask(self, model: Any) -> AIMessage:
        return await answer_of(model, [HumanMessage("hello")], self.context)


async def test_the_pieces_are_handed_on_and_make_the_answer() -> None:
    readers = Readers()
    answer = await readers.ask(GenericFakeChatModel(messages=iter([AIMessage("one two three")])))
    assert type(answer) is AIMessage
    assert answer.text == "one two three"
    assert [text for _, text in readers.heard if text.strip()] == ["one", "two", "three"]
    assert len({message_id for message_id, _ in readers.heard}) == 1


async def test_usage_and_calls_of_the_pieces_are_added_up() -> None:
    async def pieces(_: Any) -> Any:
        yield AIMessageChunk("Look", usage_metadata=usage(10, 1))
        chunk = {"name": "look", "args": '{"path": "a', "id": "c0", "index": 0}
        yield AIMessageChunk("", tool_call_chunks=[cast("Any", chunk)])
        more = {"name": None, "args": '.txt"}', "id": None, "index": 0}
        yield AIMessageChunk("", tool_call_chunks=[cast("Any", more)], usage_metadata=usage(0, 4))

    readers = Readers()
    answer = await readers.ask(RunnableLambda(cast("Any", pieces)))
    assert [call["args"] for call in answer.tool_calls] == [{"path": "a.txt"}]
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["total_tokens"] == 15
    assert [text for _, text in readers.heard] == ["Look"]


async def test_a_model_that_cannot_stream_gives_its_text_in_one_piece() -> None:
    readers = Readers()
    whole = AIMessage("all at once", tool_calls=[CALL])
    answer = await readers.ask(RunnableLambda(lambda _: whole))
    assert answer is whole
    assert [text for _, text in readers.heard] == ["all at once"]


async def test_nobody_reads_and_nothing_is_cut_into_pieces() -> None:
    readers = Readers(listen=False)
    answer = await readers.ask(GenericFakeChatModel(messages=iter([AIMessage("one two")])))
    assert (answer.text, readers.heard) == ("one two", [])


@pytest.mark.parametrize("listen", [True, False])
async def test_what_is_no_message_is_the_models_error(listen: bool) -> None:
    with pytest.raises(WrongAnswerError, match="it answered with a str, not an AIMessage"):
        await Readers(listen=listen).ask(RunnableLambda(lambda _: "text"))


def usage(sent: int, answered: int) -> Any:
    return {"input_tokens": sent, "output_tokens": answered, "total_tokens": sent + answered}
