"""Each message goes to the process that runs LiteLLM once, and the server reads all of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from retrai_llm_litellm.kept import Kept, KeptValues
from retrai_llm_litellm.messages import shared, unpacked
from retrai_llm_litellm.sent import Request, Sent

OPENAI = "openai/gpt-4o"
SETTINGS = ("gpt", lambda: "gpt")


def asked(messages: list[BaseMessage], op: str = "generate") -> Request:
    return Request(op, {"stop": None}, SETTINGS, [shared(message) for message in messages])


def call(number: int, **more: Any) -> AIMessage:
    calls = [{"id": f"c{number}", "name": "look", "args": {"line": number}}]
    return AIMessage("", tool_calls=calls, **more)


def turns(count: int) -> list[BaseMessage]:
    """A conversation with so many calls; every message a new object."""
    messages: list[BaseMessage] = [SystemMessage("be brief"), HumanMessage("fix it")]
    for number in range(count):
        messages += [call(number), ToolMessage(f"line {number}", tool_call_id=f"c{number}")]
    return messages


def arrived(kept: KeptValues, frame: dict[str, Any]) -> list[BaseMessage]:
    """The conversation as the process has it, after the way over the wire."""
    frame = json.loads(json.dumps(frame))
    kept.resolve(frame)
    messages: list[Kept] = frame["messages"]
    return [message.made(unpacked) for message in messages]


def told(messages: list[BaseMessage]) -> list[tuple[Any, ...]]:
    """What a server is told of them."""
    names = ("type", "content", "name", "tool_calls", "tool_call_id", "additional_kwargs", "role")
    return [tuple(getattr(message, name, None) for name in names) for message in messages]


def test_only_what_is_new_is_sent() -> None:
    sent, kept = Sent(), KeptValues()
    first, second = sent.frame(1, asked(turns(2))), sent.frame(2, asked(turns(3)))
    assert len(first["new"]) == 1 + 6
    assert [value["data"]["content"] for _, value in second["new"]] == ["", "line 2"]
    assert "new" not in sent.frame(3, asked(turns(3)))
    assert told(arrived(kept, first)) == told(turns(2))
    assert told(arrived(kept, second)) == told(turns(3))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda m: [m[0], m[1], *m[4:]], id="a window that leaves turns out"),
        pytest.param(lambda m: [SystemMessage("be long"), *m[1:]], id="another beginning"),
        pytest.param(lambda m: [*m[:3], *turns(5)[3:]], id="another end"),
        pytest.param(lambda m: [m[1], m[0], *m[2:]], id="another order"),
        pytest.param(lambda m: [*m, *m], id="everything twice"),
        pytest.param(lambda m: [*m[:-1], ToolMessage("line 2", tool_call_id="c9")], id="its call"),
        pytest.param(lambda m: [*m[:2], call(0, name="other")], id="its name"),
        pytest.param(lambda m: [*m, HumanMessage("line 2")], id="the same words by another"),
        pytest.param(lambda m: [*m, ChatMessage("fix it", role="critic")], id="a role of its own"),
        pytest.param(lambda m: [*m, HumanMessage([{"type": "text", "text": "x"}])], id="parts"),
        pytest.param(
            lambda m: [*m[:2], call(0, additional_kwargs={"thinking": "long"})], id="thoughts"
        ),
        pytest.param(lambda m: [], id="nothing"),
    ],
)
def test_whatever_becomes_of_the_history_arrives(
    change: Callable[[list[BaseMessage]], list[BaseMessage]],
) -> None:
    sent, kept = Sent(), KeptValues()
    assert told(arrived(kept, sent.frame(1, asked(turns(3))))) == told(turns(3))
    for number in (2, 3):
        changed = change(turns(3))
        assert told(arrived(kept, sent.frame(number, asked(changed)))) == told(changed)


def test_a_message_that_is_changed_in_place_is_sent_again() -> None:
    sent, kept = Sent(), KeptValues()
    parts: list[str | dict[str, Any]] = [{"type": "text", "text": "before"}]
    messages: list[BaseMessage] = [HumanMessage(parts), call(1)]
    arrived(kept, sent.frame(1, asked(messages)))
    messages[0].content[0]["text"] = "after"
    messages[1].tool_calls[0]["args"]["line"] = 7
    there = arrived(kept, sent.frame(2, asked(messages)))
    assert there[0].content == [{"type": "text", "text": "after"}]
    assert told(there) == told(messages)


def test_what_nobody_asks_about_any_more_is_forgotten_on_both_sides() -> None:
    sent, kept = Sent(at_least=4), KeptValues()
    for number in range(20):
        messages = [HumanMessage(f"question {number}"), HumanMessage("and?")]
        assert told(arrived(kept, sent.frame(number, asked(messages)))) == told(messages)
        assert len(kept) <= 4
    many = [HumanMessage(f"part {number}") for number in range(9)]
    assert told(arrived(kept, sent.frame(21, asked([*many])))) == told([*many])
    assert told(arrived(kept, sent.frame(22, asked([many[0]])))) == told([many[0]])
    assert len(kept) == 4


@pytest.fixture
async def provider(wire, answer, provider_of) -> AsyncIterator[Any]:
    """The provider of a server that always answers."""
    message = {"role": "assistant", "content": "yes"}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    body = {"id": "c", "object": "chat.completion", "model": "m", "choices": choices}
    wire.answers = [answer(body=body)]
    provider = provider_of(api_base=wire.url, api_key_env="LOOPBACK_KEY")
    yield provider
    await provider.aclose()


@pytest.fixture
def model(provider, context) -> Any:
    """A model as a run gets it."""
    return provider.create(OPENAI, 0.0, context)


def server_read(wire: Any) -> list[str]:
    """The last conversation, by what its messages say or ask for."""
    return [
        message["content"] or message["tool_calls"][0]["function"]["arguments"]
        for message in wire.bodies[-1]["messages"]
    ]


async def test_the_server_reads_it_whole_after_changes_and_in_a_new_process(
    wire, provider, model
) -> None:
    whole = ["be brief", "fix it", '{"line": 0}', "line 0", '{"line": 1}', "line 1"]
    for count in (1, 2, 2):
        await model.ainvoke(turns(count))
        assert server_read(wire) == whole[: 2 + 2 * count]
    await model.ainvoke([*turns(0), *turns(2)[4:], HumanMessage("now?")])
    assert server_read(wire) == [*whole[:2], *whole[4:], "now?"]
    await provider.aclose()
    await model.ainvoke(turns(2))
    assert server_read(wire) == whole


async def test_conversations_at_once_do_not_mix(wire, model) -> None:
    long = "x" * 200_000  # more than a pipe takes at once

    async def converse(name: str) -> None:
        talk: list[BaseMessage] = [SystemMessage("be brief"), HumanMessage(f"{name}: {long}")]
        for number in range(4):
            talk += [await model.ainvoke(talk), HumanMessage(f"{name} {number}")]

    await asyncio.gather(*(converse(name) for name in "abc"))
    assert len(wire.bodies) == 12
    for body in wire.bodies:
        said = [message["content"] for message in body["messages"]]
        name = said[1][0]
        count = (len(said) - 2) // 2
        expected = [text for number in range(count) for text in ("yes", f"{name} {number}")]
        assert said == ["be brief", f"{name}: {long}", *expected]


async def test_a_request_that_is_no_json_leaves_the_next_one_whole(wire, model) -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        await model.ainvoke(turns(1), logit_bias=object())
    await model.ainvoke(turns(1))
    assert server_read(wire) == ["be brief", "fix it", '{"line": 0}', "line 0"]


async def test_so_does_one_that_is_nested_without_end(wire, model) -> None:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(RecursionError):
        await model.ainvoke(turns(1), logit_bias=nested)
    await model.ainvoke(turns(1))
    assert server_read(wire) == ["be brief", "fix it", '{"line": 0}', "line 0"]
