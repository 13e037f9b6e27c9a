"""A key that is given with one call: it alone is used, for that model alone, and shown nowhere."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from retrai_core import ModelError, UsageError

OWN = "sk-of-the-caller-0123456789"
OTHER = "sk-of-another-caller-987654"
USERS = "sk-of-the-user-0123456789"
OPENAI = "openai/gpt-4o"


def whole(text: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    return {
        "id": "c",
        "object": "chat.completion",
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


@pytest.fixture
async def provider(provider_of, wire) -> AsyncIterator[Any]:
    """Build a provider that speaks to the small server; its processes are ended after the test."""
    made: list[Any] = []

    def build(**options: Any) -> Any:
        made.append(provider_of(**{"api_base": wire.url, "max_retries": 0, **options}))
        return made[-1]

    yield build
    for one in made:
        await one.aclose()


def sent_keys(wire: Any) -> list[str]:
    return [headers["authorization"].removeprefix("Bearer ") for headers in wire.headers]


async def test_it_is_sent_in_the_place_of_the_user_s_and_for_its_model_alone(
    provider, context, wire, answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", USERS)
    wire.answers = [answer(body=whole("hello"))]
    made = provider()
    with_key = made.create(OPENAI, 0.0, context, OWN)
    with_another = made.create(OPENAI, 0.0, context, api_key=OTHER)
    without = made.create(OPENAI, 0.0, context)
    for model in (with_key, with_another, without, with_key):
        assert (await model.ainvoke("hi")).content == "hello"
    assert sent_keys(wire) == [OWN, OTHER, USERS, OWN]


async def test_no_key_of_the_environment_stands_in_for_it(
    provider, context, wire, answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE", USERS)
    wire.answers = [answer(body=whole("hello"))]
    headers = {"Authorization": "Bearer $MINE", "X-Gateway": "$MINE"}
    made = provider(api_key_env="MINE", extra_headers=headers, extra_params={"api_key": USERS})
    await made.create(OPENAI, 0.0, context, OWN).ainvoke("hi")
    assert sent_keys(wire) == [OWN]
    assert wire.headers[0]["x-gateway"] == USERS, "a header that is no key stays"


async def test_the_process_that_gets_it_has_no_other(
    provider, context, wire, answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not Path("/proc/self/environ").exists():
        pytest.skip("needs /proc")
    for name in ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "WATSONX_APIKEY"):
        monkeypatch.setenv(name, USERS)
    wire.answers = [answer(body=whole("hello"))]
    made = provider()
    await made.create(OPENAI, 0.0, context, OWN).ainvoke("hi")
    process = made._keyed_process._running._process
    folder = Path("/proc", str(process.pid))
    for file in ("environ", "cmdline"):
        text = await asyncio.to_thread((folder / file).read_bytes)
        assert USERS.encode() not in text
        assert OWN.encode() not in text


async def test_it_is_shown_nowhere(provider, context, wire, answer, events) -> None:
    refused = {"error": {"message": f"Incorrect API key provided: {OWN}", "type": "invalid"}}
    wire.answers = [answer(status=401, body=refused)]
    model = provider().create(OPENAI, 0.0, context, OWN)
    with pytest.raises(ModelError) as caught:
        await model.ainvoke("hi")
    assert "check the key that was given" in caught.value.hint
    shown = [repr(model), str(model), model.model_dump_json(), str(caught.value), str(events)]
    assert not [text for text in shown if OWN in text]


@pytest.mark.parametrize("model", ["github_copilot/gpt-4o", "vertex_ai/gemini-2.5-pro"])
async def test_who_is_not_asked_with_a_key_refuses_one(provider, context, model: str) -> None:
    with pytest.raises(UsageError, match="is not asked with a key"):
        provider().create(model, 0.0, context, OWN)


async def test_what_is_missing_beside_the_key_is_said(provider_of, context) -> None:
    with pytest.raises(UsageError, match="AZURE_API_BASE"):
        provider_of().create("azure/gpt", 0.0, context, OWN)


async def test_a_local_server_is_asked_where_it_listens(
    provider_of, context, wire, answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name that `retrai models` shows is all that is needed."""
    port = wire.url.partition("127.0.0.1:")[2].partition("/")[0]
    monkeypatch.setenv("LLAMA_ARG_PORT", port)
    wire.answers = [answer(body=whole("hello"))]
    made = provider_of(max_retries=0)
    try:
        assert made.ready("llamafile/model.gguf") is None
        model = made.create("llamafile/model.gguf", 0.0, context)
        assert (await model.ainvoke("hi")).content == "hello"
    finally:
        await made.aclose()


@pytest.mark.parametrize(
    ("model", "base"),
    [
        ("lm_studio/qwen", "http://127.0.0.1:1234/v1"),
        ("hosted_vllm/qwen", "http://127.0.0.1:8000/v1"),
        ("llamafile/qwen", "http://127.0.0.1:8080/v1"),
        ("ollama_chat/qwen", "http://127.0.0.1:11500"),
        ("ollama/qwen", "http://127.0.0.1:11500"),
        ("openai/gpt-4o", None),
    ],
)
def test_each_kind_of_local_server_has_its_usual_address(
    provider_of, model: str, base: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", ":11500")
    assert provider_of().spec(model, 0.0).local_base == base


def test_an_address_that_litellm_reads_itself_stands(
    provider_of, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_API_BASE", "http://127.0.0.1:9/behind/a/path")
    monkeypatch.setenv("LM_STUDIO_API_BASE", "http://127.0.0.1:9/v1")
    for model in ("ollama_chat/qwen", "lm_studio/qwen"):
        assert provider_of().spec(model, 0.0).local_base is None


async def test_litellm_keeps_it_no_longer_than_its_request(wire, answer, tmp_path: Path) -> None:
    """LiteLLM keeps clients with their keys, and messages, unless it is made to forget them."""
    wire.answers = [answer(body=whole("hello"))]
    program = tmp_path / "asks.py"
    program.write_text(ASKS_AND_LOOKS)
    done = await asyncio.create_subprocess_exec(
        sys.executable, str(program), wire.url, OWN, stdout=subprocess.PIPE
    )
    output, _ = await asyncio.wait_for(done.communicate(), 300)
    assert output.decode().splitlines() == ["gone", "gone"]
    assert sent_keys(wire) == [OWN, OWN]


ASKS_AND_LOOKS = '''
"""In a process of its own, as it is: pytest keeps log records."""

import asyncio
import gc
import sys

from retrai_llm_litellm.kept import Kept
from retrai_llm_litellm.lazy_litellm import load_litellm
from retrai_llm_litellm.options import LiteLLMOptions
from retrai_llm_litellm.spec import ModelSpec

load_litellm()

from retrai_llm_litellm.answering import Answering

url, key = sys.argv.pop(1), sys.argv.pop()


def has_key(value):
    if type(value) is tuple and not gc.is_tracked(value):  # headers are pairs of plain values
        return any(map(has_key, value))
    return key in value if type(value) is str else type(value) is bytes and key.encode() in value


def holders():
    gc.collect()
    known = (each for each in gc.get_objects() if each is not globals())
    return [each for each in known if any(map(has_key, gc.get_referents(each)))]


async def ask(model):
    options = LiteLLMOptions(api_base=url, max_retries=0)
    spec = ModelSpec(
        model=model, provider=model.partition("/")[0], temperature=0.0, options=options
    )
    settings = Kept({"spec": spec.model_dump_json(), "tools": None, "tool_choice": None})
    message = Kept({"type": "human", "data": {"content": "hi"}})
    frame = {"op": "generate", "stop": None, "kwargs": {}, "api_key": key}
    frame |= {"settings": settings, "messages": [message]}
    said = []
    await Answering(said.append).answer(frame, said.append)


async def main():
    for model in ("deepseek/deepseek-chat", "openai/gpt-4o"):
        await ask(model)
        try:
            async with asyncio.timeout(60):
                while holders():  # LiteLLM's books are written behind the answer
                    await asyncio.sleep(0.05)
            print("gone")
        except TimeoutError:
            print("held by", [f"{type(each)} {each}"[:200] for each in holders()])


asyncio.run(main())
'''
