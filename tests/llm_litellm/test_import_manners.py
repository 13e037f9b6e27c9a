"""How LiteLLM is brought in: late, silent, without the network or the project's `.env`."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest


@pytest.fixture
def in_a_fresh_interpreter(tmp_path: Path):
    """Run code in a new interpreter, in a folder with a stray `.env`: what it printed."""
    (tmp_path / ".env").write_text(
        "STRAY=1\nOPENAI_API_KEY=sk-from-the-project\nLITELLM_LOG=DEBUG\n"
    )
    names = ("_API_KEY", "_AUTH_TOKEN", "_API_BASE", "_BASE_URL")
    keep = {k: v for k, v in os.environ.items() if not k.endswith(names)}
    clean = {k: v for k, v in keep.items() if not k.startswith("LITELLM")}

    def run(code: str) -> tuple[list[str], str]:
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            capture_output=True,
            check=False,
            text=True,
            cwd=tmp_path,
            env=clean,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines(), done.stderr

    return run


MAKE_PROVIDER = """
import os, sys
from pathlib import Path
from retrai_core import RunContext
from retrai_llm_litellm.provider import LiteLLMOptions, LiteLLMProvider
context = RunContext("r", Path.cwd(), None, sys.executable, Path.cwd(), model_name="gpt-4o")
provider = LiteLLMProvider(LiteLLMOptions(api_key_env="HOME"), context)
"""


def test_warming_up_asks_nobody_reads_no_env_file_and_says_nothing(in_a_fresh_interpreter) -> None:
    said, errors = in_a_fresh_interpreter(
        MAKE_PROVIDER
        + """
import gc
calls = []
def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"):
        calls.append((event, args))
sys.addaudithook(watch)
from retrai_llm_litellm.lazy_litellm import load_litellm, rehearse
from retrai_llm_litellm.making import make_model
gc.disable()
load_litellm()
print("collector", gc.isenabled())
gc.enable()
load_litellm()
rehearse("gpt-4o")
print("collector", gc.isenabled())
make_model(provider.spec("gpt-4o", 0.0), print)
print("connections", calls)
print("stray", os.environ.get("STRAY"), os.environ.get("OPENAI_API_KEY"))
print("mcp", "mcp" in sys.modules)
"""
    )
    # The collector, which rests during the import, is left as it was found.
    assert said[:2] == ["collector False", "collector True"]
    assert said[2:] == ["connections []", "stray None None", "mcp False"]
    assert errors == ""


def test_an_unlisted_name_is_asked_of_litellm_itself(in_a_fresh_interpreter) -> None:
    said, errors = in_a_fresh_interpreter(
        MAKE_PROVIDER
        + """
print(provider.ready("ft:gpt-4o-2024-08-06:my-org::abc"))
try:
    provider.ready("gtp-4o")
except Exception as error:
    print(type(error).__name__, error)
"""
    )
    assert said[0] == "None"
    assert said[1].startswith(
        "UsageError no provider is known for the model gtp-4o (did you mean gpt-4o?"
    )
    assert errors == ""


def test_the_switch_for_openai_goes_back_when_another_provider_joins(
    in_a_fresh_interpreter,
) -> None:
    said, _ = in_a_fresh_interpreter(
        """
        import os
        from retrai_llm_litellm.lazy_litellm import TRANSPORT_SWITCH, choose_transport
        for provider in ("openai", "groq", "openai"):
            choose_transport(provider)
            print(os.environ[TRANSPORT_SWITCH])
        os.environ[TRANSPORT_SWITCH] = "True"
        choose_transport("groq")
        print(os.environ[TRANSPORT_SWITCH])
        """
    )
    assert said == ["true", "false", "false", "True"]
