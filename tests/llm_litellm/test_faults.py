"""Overload, lost connections and refusals: asked again while it can help, then one clear line."""

from __future__ import annotations

import logging
import re
import traceback

import pytest

from retrai_core import ModelError

pytestmark = pytest.mark.usefixtures("transport")

OPENAI = "openai/gpt-4o"
ANTHROPIC = "anthropic/claude-sonnet-4-5"
FORMATS = pytest.mark.parametrize("name", [OPENAI, ANTHROPIC])


def refusal(message: str, kind: str = "invalid_request_error", code: str | None = None) -> dict:
    return {"error": {"message": message, "type": kind, "code": code}}


def warnings(events) -> list[str]:
    return [event.payload["message"] for event in events if event.kind == "log"]


async def test_a_429_is_waited_out_as_long_as_the_server_asks(speaks, events) -> None:
    answer = await speaks(OPENAI).ainvoke("You are too fast.")
    assert answer.text == "after all"
    (told,) = warnings(events)
    assert "slow down" in told
    assert told.endswith("attempt 2 of 6 in 1.0 s")


async def test_a_500_is_asked_again(speaks, events) -> None:
    answer = await speaks(ANTHROPIC).ainvoke("You trip once.")
    assert answer.text == "up again"
    assert len(warnings(events)) == 1


async def test_an_answer_that_breaks_off_is_asked_for_again(speaks, events) -> None:
    answer = await speaks(OPENAI, streaming=True).ainvoke("Now break off.")
    assert answer.text == "the whole sentence"
    assert len(warnings(events)) == 1


@pytest.mark.parametrize("way", ["cut", "error"])
async def test_a_stream_that_someone_reads_is_not_started_over(
    wire, answer, part_of, model_of, way
) -> None:
    first = part_of({"role": "assistant", "content": "hel"})
    failed = refusal("the server had an error", "server_error")
    frames = [first] if way == "cut" else [first, failed]
    wire.answers = [answer(frames=frames, finished=way == "error")]
    heard: list[str] = []

    async def read() -> None:
        async for part in model_of(OPENAI, api_base=wire.url).astream("hi"):
            heard.append(part.text)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(ModelError, match="no answer from openai/gpt-4o"):
        await read()
    assert "".join(heard) == "hel"
    assert len(wire.bodies) == 1


async def test_an_error_before_the_first_part_is_retried_also_for_a_reader(
    wire, answer, part_of, model_of
) -> None:
    busy = answer(503, refusal("busy"), {"retry-after-ms": "1"})
    wire.answers = [busy, answer(frames=[part_of({"content": "hi"}, "stop")])]
    parts = [p.text async for p in model_of(OPENAI, api_base=wire.url).astream("hi")]
    assert "".join(parts) == "hi"


async def test_a_connection_that_is_dropped_is_tried_again(wire, answer, part_of, model_of) -> None:
    hangs_up = answer(finished=False)
    wire.answers = [hangs_up, answer(frames=[part_of({"content": "hi"}, "stop")])]
    assert (await model_of(OPENAI, api_base=wire.url, streaming=True).ainvoke("hi")).text == "hi"
    assert len(wire.bodies) == 2


async def test_attempts_end_where_the_option_says(wire, answer, model_of) -> None:
    wire.answers = [answer(500, refusal("boom"), {"retry-after-ms": "1"})]
    with pytest.raises(
        ModelError, match=r"after 3 attempts \(status 500\); openai said: boom"
    ) as caught:
        await model_of(OPENAI, api_base=wire.url, max_retries=2).ainvoke("hi")
    assert not caught.value.fatal
    assert len(wire.bodies) == 3


async def test_a_wait_beyond_the_limit_is_not_begun(wire, answer, model_of) -> None:
    wire.answers = [answer(429, refusal("come back tomorrow"), {"Retry-After": "86400"})]
    with pytest.raises(ModelError, match=r"rate-limited.*come back tomorrow.*max_wait_s"):
        await model_of(OPENAI, api_base=wire.url).ainvoke("hi")
    assert len(wire.bodies) == 1


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"id": "c", "object": "chat.completion", "choices": []}, "the answer holds no message"),
        # LiteLLM's two ways of sending say it in words of their own, one with a traceback behind.
        ([], r"Invalid response object$|Received: \[\]"),
    ],
)
async def test_an_answer_without_a_message_is_asked_for_again_and_then_named(
    wire, answer, model_of, body, words
) -> None:
    wire.answers = [answer(body=body, headers={"retry-after-ms": "1"})]
    with pytest.raises(ModelError) as caught:
        await model_of(OPENAI, api_base=wire.url, max_retries=1).ainvoke("hi")
    assert "no answer from openai/gpt-4o after 2 attempts" in caught.value.message
    assert re.search(words, caught.value.message)
    assert len(wire.bodies) == 2


async def test_a_web_page_is_no_answer_to_wait_for(wire, answer, model_of) -> None:
    wire.answers = [answer(body=b"<!doctype html>\n<html><body>Welcome</body></html>")]
    with pytest.raises(ModelError, match="a web page came back for openai/gpt-4o") as caught:
        await model_of(OPENAI, api_base=wire.url).ainvoke("hi")
    assert caught.value.fatal
    assert wire.url in (caught.value.hint or "")
    assert len(wire.bodies) == 1


async def test_a_server_that_is_not_there_is_named(model_of) -> None:
    with pytest.raises(
        ModelError, match=r"no connection for openai/gpt-4o after 1 attempt: .*127.0.0.1:9"
    ):
        await model_of(OPENAI, api_base="http://127.0.0.1:9/v1", max_retries=0).ainvoke("hi")
    with pytest.raises(ModelError, match="no connection for ollama_chat/qwen") as caught:
        await model_of("ollama_chat/qwen", api_base="http://127.0.0.1:9", max_retries=0).ainvoke(
            "hi"
        )
    assert "ssl" not in str(caught.value)


@pytest.mark.parametrize("model", [OPENAI, "ollama_chat/qwen"])
async def test_where_nobody_listens_on_this_machine_waiting_is_soon_over(
    model, model_of, events
) -> None:
    with pytest.raises(ModelError, match=r"after 3 attempts: .*127\.0\.0\.1:9") as caught:
        await model_of(model, api_base="http://127.0.0.1:9").ainvoke("hi")
    assert caught.value.fatal, "the run ends, and is not told so three times"
    assert [one.rpartition("; ")[2][:14] for one in warnings(events)] == [
        "attempt 2 of 3",
        "attempt 3 of 3",
    ]
    assert "start the server" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, refusal("bad key"), "no access to openai/gpt-4o.*bad key.*LOOPBACK_KEY.*offline"),
        (404, refusal("no such model"), "openai has no model openai/gpt-4o; openai said: no such"),
        (
            400,
            refusal("maximum context length is 8192 tokens", code="context_length_exceeded"),
            "too long for openai/gpt-4o",
        ),
        (
            429,
            refusal("You exceeded your current quota", code="insufficient_quota"),
            "the account for openai/gpt-4o is used up",
        ),
    ],
)
@pytest.mark.parametrize("streaming", [True, False])
async def test_what_trying_again_cannot_mend_ends_at_once(
    wire, answer, model_of, status, body, words, streaming
) -> None:
    wire.answers = [answer(status, body)]
    with pytest.raises(ModelError, match=words) as caught:
        await model_of(OPENAI, api_base=wire.url, streaming=streaming).ainvoke("hi")
    assert caught.value.fatal
    assert "\n" not in str(caught.value)
    assert len(wire.bodies) == 1


async def test_a_name_nearly_right_is_told_so(wire, answer, model_of) -> None:
    wire.answers = [answer(404, refusal("no such model"))]
    with pytest.raises(ModelError, match=r"did you mean .*gpt-4o-mini"):
        await model_of("openai/gpt-4o-minni", api_base=wire.url).ainvoke("hi")


@pytest.mark.parametrize("status", [401, 500])
async def test_no_key_gets_into_an_error_a_log_an_event_or_a_repr(
    wire, answer, model_of, events, caplog, capfd, key, monkeypatch, status
) -> None:
    secret = "header-secret-42"
    monkeypatch.setenv("TEAM_PASS", secret)
    echo = f"got {key} and {secret} in Authorization: Bearer {key}"
    wire.answers = [answer(status, refusal(echo), {"retry-after-ms": "1"})]
    caplog.set_level(logging.DEBUG)
    model = model_of(
        OPENAI, api_base=wire.url, extra_headers={"X-Secret": "Basic $TEAM_PASS"}, max_retries=1
    )
    with pytest.raises(ModelError) as caught:
        await model.ainvoke("hi")
    printed = capfd.readouterr()
    everything = [
        "".join(traceback.format_exception(caught.value)),
        caplog.text,
        printed.out + printed.err,
        repr(model),
        *map(repr, events),
    ]
    for text in everything:
        assert key not in text
        assert secret not in text
    assert not printed.out


async def test_a_refused_key_names_the_variable(speaks, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-key-0123456789")
    with pytest.raises(ModelError, match=r"no access to .*check OPENAI_API_KEY, or use"):
        await speaks(OPENAI, api_key_env=None).ainvoke("hi")
    monkeypatch.setenv("LOOPBACK_KEY", "sk-wrong-key-0123456789")
    with pytest.raises(ModelError, match=r"no access to .*check LOOPBACK_KEY, or use"):
        await speaks(OPENAI).ainvoke("hi")
