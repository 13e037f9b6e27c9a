"""A model's answers over the OpenAI and the Anthropic wire formats, from a real server."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from retrai_llm_litellm.pricing import cost_usd

OPENAI = "openai/gpt-4o"
ANTHROPIC = "anthropic/claude-sonnet-4-5"
FORMATS = pytest.mark.parametrize("name", [OPENAI, ANTHROPIC])


@FORMATS
@pytest.mark.parametrize("streaming", [True, False])
async def test_a_tool_call_and_its_result_go_round(speaks, name, streaming) -> None:
    model = speaks(name, streaming=streaming)
    question = HumanMessage("How is the weather?")

    call = await model.ainvoke([question])
    assert call.text == "Let me look."
    assert [(c["name"], c["args"]) for c in call.tool_calls] == [("get_weather", {"city": "Graz"})]

    result = ToolMessage("sunny, 24 degrees", tool_call_id=call.tool_calls[0]["id"])
    closing = await model.ainvoke([question, call, result])
    assert closing.text == "It is sunny in Graz."
    assert not closing.tool_calls


@FORMATS
async def test_usage_is_counted_and_priced(speaks, name) -> None:
    answer = await speaks(name).ainvoke("How is the weather?")
    usage = answer.usage_metadata
    assert (usage["input_tokens"], usage["output_tokens"]) == (1000, 100)
    price = cost_usd(name, usage)
    per_token = {OPENAI: (2.5e-6, 10e-6), ANTHROPIC: (3e-6, 15e-6)}[name]
    assert price == pytest.approx(1000 * per_token[0] + 100 * per_token[1])


def test_cached_tokens_cost_less_and_an_unknown_model_has_no_price() -> None:
    usage = {"input_tokens": 1000, "output_tokens": 0}
    full = cost_usd(ANTHROPIC, usage)
    cached = {**usage, "input_token_details": {"cache_read": 1000}}
    assert cost_usd(ANTHROPIC, cached) < full
    assert cost_usd("openai/my-own-model", usage) is None


@FORMATS
async def test_an_answer_streams_in_parts(speaks, name) -> None:
    parts = [part async for part in speaks(name).astream("Tell me a long story.")]
    texts = [part.text for part in parts if part.text]
    assert len(texts) > 1
    assert "".join(texts).startswith("Once upon a time")
    assert sum(part.usage_metadata is not None for part in parts) == 1


@pytest.mark.parametrize("streaming", [True, False])
async def test_half_a_call_is_an_invalid_call_and_never_completed_by_guess(
    speaks, streaming
) -> None:
    answer = await speaks(OPENAI, streaming=streaming).ainvoke("Make half a call.")
    assert not answer.tool_calls
    (bad,) = answer.invalid_tool_calls
    assert bad["name"] == "get_weather"
    assert bad["args"] == '{"city": "Gr'


async def test_half_a_call_in_the_anthropic_format_is_invalid_too(wire, answer, model_of) -> None:
    # aimock fixes this one itself, so the small server tells the story.
    usage = {"input_tokens": 5, "output_tokens": 1}
    block = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}}
    half = {"type": "input_json_delta", "partial_json": '{"city": "Gr'}
    message = {"id": "m", "type": "message", "role": "assistant", "content": [], "usage": usage}
    cut = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": usage}
    wire.answers = [
        answer(
            frames=[
                {"type": "message_start", "message": message},
                {"type": "content_block_start", "index": 0, "content_block": block},
                {"type": "content_block_delta", "index": 0, "delta": half},
                {"type": "content_block_stop", "index": 0},
                cut,
                {"type": "message_stop"},
            ]
        )
    ]
    said = await model_of(ANTHROPIC, api_base=wire.url, streaming=True).ainvoke("hi")
    assert not said.tool_calls
    assert [bad["args"] for bad in said.invalid_tool_calls] == ['{"city": "Gr']


@FORMATS
async def test_a_conversation_goes_on_after_a_malformed_call(aimock, speaks, name) -> None:
    model = speaks(name)
    call = {"name": "get_weather", "args": '{"city": "Gr', "id": "call_bad", "error": None}
    bad = AIMessage("", invalid_tool_calls=[{**call, "type": "invalid_tool_call"}])
    told = ToolMessage("not valid JSON", tool_call_id="call_bad", name="get_weather")
    answer = await model.ainvoke(
        [HumanMessage("A long story."), bad, told, HumanMessage("Tell a long story now.")]
    )
    assert answer.text.startswith("Once upon a time")
    sent = aimock.requests("not valid JSON")[-1]["messages"]
    roles = [message["role"] for message in sent]
    assert "tool" not in roles
    assert any("called get_weather with" in str(message["content"]) for message in sent)


@FORMATS
async def test_an_empty_answer_is_an_answer(speaks, name) -> None:
    model = speaks(name)
    answer = await model.ainvoke("Please say nothing.")
    assert answer.text == ""
    assert not answer.tool_calls
    again = await model.ainvoke([HumanMessage("hm"), answer, HumanMessage("Tell a long story.")])
    assert again.text.startswith("Once upon a time")


@FORMATS
@pytest.mark.parametrize("streaming", [True, False])
async def test_an_answer_holds_nothing_that_a_strict_checkpoint_refuses(
    speaks, name, streaming
) -> None:
    answer = await speaks(name, streaming=streaming).ainvoke("How is the weather?")
    strict = JsonPlusSerializer(allowed_msgpack_modules=None)
    kept = strict.loads_typed(strict.dumps_typed(answer))
    assert kept == answer
    assert "tool_calls" not in answer.additional_kwargs


async def test_own_headers_and_parameters_reach_the_server(
    wire, answer, part_of, model_of, monkeypatch
) -> None:
    monkeypatch.setenv("TEAM", "seven")
    wire.answers = [answer(frames=[part_of({"content": "hi"}, "stop")])]
    model = model_of(
        OPENAI,
        api_base=wire.url,
        streaming=True,
        extra_headers={"X-Team": "team-${TEAM}"},
        extra_params={"seed": 7},
        max_tokens=55,
        temperature=0.5,
    )
    assert (await model.ainvoke("hi")).text == "hi"
    assert wire.headers[0]["x-team"] == "team-seven"
    assert wire.headers[0]["authorization"].startswith("Bearer sk-loopback")
    body = wire.bodies[0]
    assert (body["seed"], body["max_tokens"], body["temperature"]) == (7, 55, 0.5)
    assert body["model"] == "gpt-4o"


async def test_no_parameter_of_ours_is_sent_along(wire, answer, part_of, model_of) -> None:
    wire.answers = [answer(frames=[part_of({"content": "hi"}, "stop")])]
    await model_of(OPENAI, api_base=wire.url, streaming=True).ainvoke("hi")
    known = {"model", "messages", "stream", "stream_options", "temperature", "tools"}
    assert set(wire.bodies[0]) == known


async def test_a_call_without_an_id_gets_one(wire, answer, part_of, model_of) -> None:
    call = {"index": 0, "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    wire.answers = [answer(frames=[part_of({"tool_calls": [call]}), part_of({}, "tool_calls")])]
    said = await model_of(OPENAI, api_base=wire.url, streaming=True).ainvoke("hi")
    assert said.tool_calls[0]["id"]
