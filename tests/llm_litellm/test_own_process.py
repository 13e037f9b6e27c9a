"""LiteLLM in a process of its own: the same answers, and nothing left of it afterwards."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage

from retrai_core import ModelError
from retrai_llm_litellm.frames import FrameReader, framed

OPENAI = "openai/gpt-4o"


@pytest.fixture
async def served(provider_of, context) -> AsyncIterator[Any]:
    """Make a model as a run gets it; its process is ended after the test."""
    providers: list[Any] = []

    def make(name: str, **options: Any) -> Any:
        providers.append(provider_of(**{"api_key_env": "LOOPBACK_KEY", **options}))
        return providers[-1].create(name, 0.0, context)

    make.providers = providers
    yield make
    for provider in providers:
        await provider.aclose()


def children(parent: int | None = None) -> list[int]:
    """The processes of ours, or of another parent, that run LiteLLM."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,args="], capture_output=True, check=True, text=True
    )
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    wanted = str(parent or os.getpid())
    return [int(r[0]) for r in rows if r[1] == wanted and "retrai_llm_litellm.server" in r[2]]


def is_gone(pid: int) -> bool:
    """Whether the process has ended, be it still unburied."""
    state = shown(pid, "stat")
    return not state.strip() or state.startswith("Z")


def shown(pid: int, column: str) -> str:
    """What `ps` shows of a process; nothing when there is none."""
    command = ["ps", "-o", f"{column}=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, check=False, text=True).stdout


TOOL_CALL = {
    "tool_calls": [
        {
            "index": 0,
            "id": "c1",
            "type": "function",
            "function": {"name": "get_weather", "arguments": '{"city": "Graz \\ud83d"}'},
        }
    ]
}


def whole(text: str) -> dict[str, Any]:
    """A whole answer in OpenAI's format."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    choices = [{**choice, "finish_reason": "stop"}]
    return {
        "id": "c",
        "object": "chat.completion",
        "model": "m",
        "choices": choices,
        "usage": usage,
    }


def refusal(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "server_error", "code": None}}


async def test_a_conversation_with_calls_prices_and_parts_goes_through_it(
    wire, answer, part_of, served
) -> None:
    tool = {"name": "get_weather", "description": "weather", "parameters": {"type": "object"}}
    model = served(OPENAI, api_base=wire.url)
    bound = model.bind_tools([{"type": "function", "function": tool}], tool_choice="any")
    question = HumanMessage("How is the weather?")
    message = {"role": "assistant", "content": None, **TOOL_CALL}
    asked = {**whole(""), "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    wire.answers = [answer(body=asked), answer(body=whole("sunny"))]

    call = await bound.ainvoke([question])
    assert [(c["name"], c["id"]) for c in call.tool_calls] == [("get_weather", "c1")]
    assert call.tool_calls[0]["args"]["city"].startswith("Graz")
    result = ToolMessage("24 degrees", tool_call_id="c1")
    closing = await bound.ainvoke([question, call, result])
    assert closing.text == "sunny"
    assert wire.bodies[0]["tool_choice"] == "required"
    assert [message["role"] for message in wire.bodies[1]["messages"]] == [
        "user",
        "assistant",
        "tool",
    ]

    (provider,) = served.providers
    usage = dict(closing.usage_metadata)
    assert provider.cost_usd(OPENAI, usage) == pytest.approx(1000 * 2.5e-6 + 100 * 10e-6)
    assert provider.cost_usd(OPENAI, {**usage, "input_tokens": 0}) == pytest.approx(100 * 10e-6)
    assert provider.cost_usd("openai/my-own-model", usage) is None

    wire.answers = [answer(frames=[part_of({"content": t}) for t in ("a", "b", "c")])]
    assert [part.text async for part in bound.astream("go") if part.text] == ["a", "b", "c"]
    assert len(children()) == 1


async def test_a_cost_that_was_never_told_is_asked_for(served) -> None:
    model = served(OPENAI, api_base="http://127.0.0.1:9/v1")
    usage = {"input_tokens": 1000, "output_tokens": 0, "total_tokens": 1000}
    lost = Future()
    lost.cancel()
    model._priced(usage, lost)
    (provider,) = served.providers
    cost = await asyncio.to_thread(provider.cost_usd, OPENAI, usage)
    assert cost == pytest.approx(1000 * 2.5e-6)


def test_frames_that_arrive_in_pieces_or_together_are_read_whole() -> None:
    frames = [{"id": number, "text": "x" * number} for number in range(5)]
    data = b"".join(framed(frame) for frame in frames)
    out, into = os.pipe()
    reader, read = FrameReader(out), []
    for start in range(0, len(data), 7):
        os.write(into, data[start : start + 7])
        read += reader.read() or []
    os.write(into, data)
    read += reader.read() or []
    assert read == [*frames, *frames]
    os.write(into, data[:3])
    os.close(into)
    assert reader.read() == []
    assert reader.read() is None
    os.close(out)


def test_without_an_event_loop_it_gives_the_same(
    wire, answer, part_of, provider_of, context
) -> None:
    provider = provider_of(api_base=wire.url, api_key_env="LOOPBACK_KEY")
    model = provider.create(OPENAI, 0.0, context)
    try:
        wire.answers = [answer(body=whole("once"))]
        assert model.invoke("hi").text == "once"
        wire.answers = [answer(frames=[part_of({"content": "up"}), part_of({"content": "on"})])]
        assert "".join(part.text for part in model.stream("hi")) == "upon"
    finally:
        asyncio.run(provider.aclose())


async def test_retries_are_told_and_refusals_say_what_to_do(
    wire, answer, served, events, key
) -> None:
    model = served(OPENAI, api_base=wire.url, max_retries=1)
    wire.answers = [
        answer(503, refusal("busy"), {"retry-after-ms": "1"}),
        answer(body=whole("at last")),
    ]
    assert (await model.ainvoke("hi")).text == "at last"
    (told,) = [event.payload["message"] for event in events if event.kind == "log"]
    assert "busy" in told
    wire.answers = [answer(401, refusal(f"bad key {key}"))]
    with pytest.raises(ModelError, match=r"no access to openai/gpt-4o.*LOOPBACK_KEY") as caught:
        await model.ainvoke("hi")
    assert caught.value.fatal
    assert key not in str(caught.value)
    (process,) = children()
    assert key not in shown(process, "args")


async def test_a_call_that_nobody_waits_for_any_more_is_given_up(wire, served) -> None:
    wire.answers = []
    closed = asyncio.Event()
    asked = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        with suppress(ConnectionError):
            while await reader.read(65536):
                pass
        closed.set()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    task = asyncio.create_task(served(OPENAI, api_base=address, max_retries=0).ainvoke("hi"))
    await asyncio.wait_for(asked.wait(), 120)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(closed.wait(), 60)
    server.close()


async def test_a_process_that_dies_is_named_and_started_again(wire, answer, served) -> None:
    wire.answers = [answer(body=whole("one"))]
    model = served(OPENAI, api_base=wire.url)
    assert (await model.ainvoke("hi")).text == "one"
    (process,) = children()

    async def ask() -> None:
        await model.ainvoke("hi")

    os.kill(process, signal.SIGSTOP)
    task = asyncio.create_task(ask())
    await asyncio.sleep(0)
    os.kill(process, signal.SIGKILL)
    with pytest.raises(ModelError, match=r"LiteLLM ended \(signal 9") as caught:
        await task
    assert not caught.value.fatal
    assert (await model.ainvoke("hi")).text == "one"
    assert len(children()) == 1


async def test_closing_ends_it_at_once_also_while_it_imports(provider_of, context) -> None:
    provider = provider_of(api_base="http://127.0.0.1:9/v1")
    provider.warm_up()
    (process,) = children()
    await provider.aclose()
    assert is_gone(process)
    gc.collect()  # a pipe that was left open would be warned of here


def test_it_ends_with_retrai_however_that_ends(tmp_path: Path) -> None:
    code = """
        import sys, time
        from pathlib import Path
        from retrai_core import RunContext
        from retrai_llm_litellm.provider import LiteLLMOptions, LiteLLMProvider
        context = RunContext("r", Path.cwd(), None, sys.executable, Path.cwd(), model_name="gpt-4o")
        LiteLLMProvider(LiteLLMOptions(), context).warm_up()
        print("there", flush=True)
        sys.stdin.read()
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"there\n"
        (child,) = children(parent.pid)
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    deadline = time.monotonic() + 60
    while not is_gone(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)


async def test_a_name_that_only_litellm_knows_is_asked_about_in_the_warm_up(
    provider_of: Any, context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = "ft:gpt-4o-2024-08-06:my-org::abc"
    context.model_name = model
    provider = provider_of(api_key_env="LOOPBACK_KEY")
    try:
        await asyncio.to_thread(provider.warm_up)
        # On the event loop nothing may be started for it: no process could be any more.
        monkeypatch.setattr(sys, "executable", "/nonexistent/python")
        assert provider.spec(model, 0.0).provider == "openai"
    finally:
        await provider.aclose()
