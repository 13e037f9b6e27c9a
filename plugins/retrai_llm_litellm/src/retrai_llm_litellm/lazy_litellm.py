"""The one place that imports LiteLLM: late, quietly, without the network or a stray `.env`."""

from __future__ import annotations

import gc
import logging
import os
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, cast

LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
# Their debug lines hold the headers of requests, and so keys.
CLIENT_LOGGERS = ("openai", "httpx", "httpcore")
TRANSPORT_SWITCH = "EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER"
LOG_IN_FIRST = ("github_copilot", "chatgpt")
SKIP_MCP = "_skip_mcp_handler"


def is_loaded() -> bool:
    """Whether LiteLLM has been imported in this process, by whomever."""
    return "litellm" in sys.modules


def load_litellm() -> ModuleType:
    """LiteLLM, imported on the first call (3 to 4 CPU-seconds) and silenced.

    Its price list is then the installed one instead of one fetched from the network, and a `.env`
    in the working directory, which belongs to the project, is not loaded into our environment.
    """
    if not is_loaded():
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        os.environ["LITELLM_MODE"] = "PRODUCTION"
        _import_without_collecting("langchain_litellm.chat_models.litellm")
    litellm = import_module("litellm")
    if not litellm.suppress_debug_info:
        # Once only: setting a logger's level empties the caches of all loggers.
        silence(litellm)
    return litellm


def silence(litellm: Any) -> None:
    """No advertisement on standard output, no log lines between ours, no telemetry.

    `LITELLM_LOG=DEBUG` in the environment keeps LiteLLM's own log.
    """
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    if "LITELLM_LOG" not in os.environ:
        for name in LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    for name in CLIENT_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)


def choose_transport(provider: str) -> None:
    """Let LiteLLM send OpenAI's own requests itself instead of through OpenAI's client library.

    That library walks every message of the conversation against its types before each request:
    10 ms of CPU after 30 tool calls, and growing. LiteLLM has one switch for the whole process,
    which does not know every provider of the same wire format; so it is thrown only for `openai`,
    and back as soon as another provider's model is made. A user's own setting of it stands.
    """
    ours = "true"
    if provider == "openai":
        os.environ.setdefault(TRANSPORT_SWITCH, ours)
    elif os.environ.get(TRANSPORT_SWITCH, ours) == ours:
        os.environ[TRANSPORT_SWITCH] = "false"


def call_params() -> dict[str, Any]:
    """What every request gets beside its own parameters.

    LiteLLM imports the `mcp` package (a web server among it, 1 CPU-second and 20 MB) to look for
    MCP servers among the tools of a request; ours are plain functions. The switch that skips this
    has no public name, so it is used only where LiteLLM reads it.
    """
    params: dict[str, Any] = {"drop_params": True}
    source = import_module("litellm.main").__file__
    if source is not None and SKIP_MCP in Path(source).read_text(encoding="utf-8"):
        params[SKIP_MCP] = True
    return params


def inferred_provider(model: str) -> str | None:
    """What LiteLLM makes of a bare name on which its files say nothing (`ft:gpt-4o-...`)."""
    litellm: Any = load_litellm()
    try:
        return cast(str, litellm.get_llm_provider(model=model)[1])
    except litellm.BadRequestError:
        return None


def rehearse(model: str) -> None:
    """Make LiteLLM import what it leaves to the first request, by an answer that is made up here.

    Nothing is sent: LiteLLM's `mock_response` ends the call before any provider is spoken to, but
    for those that it logs in to first: another model stands in for theirs.
    """
    litellm: Any = load_litellm()
    if model.partition("/")[0] in LOG_IN_FIRST:
        model = "openai/gpt-4o"
    tool = {"type": "function", "function": {"name": "none", "parameters": {"type": "object"}}}
    # The stream is not read: LiteLLM would count its tokens, with a tokenizer of 70 MB.
    litellm.completion(
        model=model,
        messages=[{"role": "user", "content": "."}],
        tools=[tool],
        stream=True,
        mock_response=".",
        api_key="rehearsal",
        **call_params(),
    )
    for name in ("litellm._service_logger", "anyio._backends._asyncio"):
        import_module(name)


def _import_without_collecting(name: str) -> None:
    """Import with the garbage collector at rest, then take what came out of its sight.

    Over half a million long-lived objects arrive: walking them again and again is a fifth of the
    import's time, and a pause in the run later, whenever the oldest generation is collected.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        import_module(name)
        gc.freeze()
    finally:
        if collecting:
            gc.enable()
