"""Requests are prepared in the event loop's own thread only where that asks nobody for anything."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading

import pytest

from retrai_llm_litellm.preparing import PreparingExecutor, prepared_for

HERE = threading.get_ident


async def test_the_first_piece_of_work_only_and_for_known_providers() -> None:
    loop = asyncio.get_running_loop()
    loop.set_default_executor(PreparingExecutor())

    async def threads() -> list[bool]:
        return [await loop.run_in_executor(None, HERE) == HERE() for _ in range(2)]

    assert await threads() == [False, False]
    with prepared_for("github_copilot"):
        assert await asyncio.create_task(threads()) == [False, False]
    with prepared_for("openai"):
        tasks = [asyncio.create_task(threads()) for _ in range(2)]
    assert await asyncio.gather(*tasks) == [[True, False], [True, False]]
    assert await threads() == [False, False]


async def test_what_fails_there_is_told_to_whoever_waits() -> None:
    loop = asyncio.get_running_loop()
    loop.set_default_executor(PreparingExecutor())
    with prepared_for("openai"):
        waiting = loop.run_in_executor(None, int, "no number")
    with pytest.raises(ValueError, match="no number"):
        await waiting


def test_litellm_asks_nobody_while_it_prepares_a_request_for_them() -> None:
    code = """
        import asyncio, sys, threading
        from langchain_core.messages import HumanMessage
        from retrai_llm_litellm.lazy_litellm import load_litellm
        from retrai_llm_litellm.making import make_model
        from retrai_llm_litellm.options import LiteLLMOptions
        from retrai_llm_litellm.preparing import ASK_NOBODY_FIRST, PreparingExecutor
        from retrai_llm_litellm.spec import ModelSpec

        preparing, seen = [], []
        WAITS = ("socket.connect", "socket.get", "subprocess.", "os.system", "time.sleep")
        def watch(event, args):
            if preparing == [threading.get_ident()] and event.startswith(WAITS):
                seen.append((provider, event, args))
        sys.addaudithook(watch)

        class Watched(PreparingExecutor):
            def submit(self, fn, /, *args, **kwargs):
                preparing.append(threading.get_ident())
                try:
                    done = super().submit(fn, *args, **kwargs)
                    if done.done():
                        inline.add(provider)
                    return done
                finally:
                    preparing.pop()

        async def ask(provider):
            asyncio.get_running_loop().set_default_executor(Watched())
            address = "http://127.0.0.1:9/v1"
            options = LiteLLMOptions(api_base=address, api_key_env="SOME_KEY", max_retries=0)
            spec = ModelSpec(
                model=provider + "/some-model", provider=provider, temperature=0, options=options
            )
            chat = make_model(spec, print)
            tool = {"name": "look", "description": "look", "parameters": {"type": "object"}}
            tools = [{"type": "function", "function": tool}]
            try:
                await chat.whole([HumanMessage("hi")], None, tools=tools)
            except Exception as error:
                if "no connection" not in str(error):
                    print(provider, type(error).__name__, error)

        inline = set()
        load_litellm()
        for provider in sorted(ASK_NOBODY_FIRST):
            asyncio.run(ask(provider))
        print("asked", seen)
        print("elsewhere", sorted(ASK_NOBODY_FIRST - inline))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        check=False,
        text=True,
        env={"PATH": "/usr/bin:/bin", "SOME_KEY": "sk-0123456789"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["asked []", "elsewhere []"]
