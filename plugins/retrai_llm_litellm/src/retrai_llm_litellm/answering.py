"""What the process that runs LiteLLM does with each request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from .callers_keys import CallersKeys
from .copilot_login import CopilotLogin
from .copilot_tokens import COPILOT
from .frames import Frame
from .kept import Kept
from .lazy_litellm import inferred_provider
from .making import make_model
from .messages import fresh, packed, unpacked
from .pricing import cost_usd
from .spec import ModelSpec

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from .chat_model import RetraiChatLiteLLM

Say = Callable[[Frame], None]


class Answering:
    """Answers requests by their `op`, and keeps the models that it made for them.

    Args:
        report: told each time that a request is sent again, or that a person has to log in, in
            one line.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._copilot = CopilotLogin(report)
        self._keys = CallersKeys()
        self._models: dict[str, RetraiChatLiteLLM] = {}
        self._ops: Mapping[str, Callable[[Frame, Say], Awaitable[None]]] = {
            "generate": self._generate,
            "stream": self._stream,
            "cost": self._cost,
            "provider": self._provider,
        }

    async def answer(self, request: Frame, say: Say) -> None:
        """Do what is asked; the last thing that is said has `done`, or the cost of what was done.

        Raises:
            ModelError: the model's server refused.
        """
        with self._keys.used(request.get("api_key")):
            await self._ops[request["op"]](request, say)

    async def _generate(self, request: Frame, say: Say) -> None:
        chat, kwargs = await self._called(request)
        generation = await chat.whole(_conversation(request), request["stop"], **kwargs)
        usage: Any = getattr(generation.message, "usage_metadata", None)
        done = {"message": packed(generation.message), "info": generation.generation_info}
        if not usage:
            say({"done": done})
            return
        say({"done": done, "priced": True})
        say({"cost_usd": cost_usd(chat.model, usage)})

    async def _stream(self, request: Frame, say: Say) -> None:
        chat, kwargs = await self._called(request)
        parts = chat.parts(_conversation(request), request["stop"], **kwargs)
        async for part in parts:
            say({"part": {"message": packed(part.message), "info": part.generation_info}})
        say({"done": {}})

    async def _cost(self, request: Frame, say: Say) -> None:
        say({"done": {"cost_usd": cost_usd(request["model"], request["usage"])}})

    async def _provider(self, request: Frame, say: Say) -> None:
        say({"done": {"provider": inferred_provider(request["model"])}})

    async def _called(self, request: Frame) -> tuple[RetraiChatLiteLLM, dict[str, Any]]:
        """The model that is asked, and what the request gives beside the conversation."""
        settings: Kept = request["settings"]
        spec = ModelSpec.model_validate_json(settings.value["spec"])
        if spec.provider == COPILOT:
            await self._copilot.ensure(attended=spec.attended)
        if "api_key" in request:  # a caller's own: nothing that was made with it is kept
            chat, bound = self._bound(settings.value, request["api_key"])
        else:
            chat, bound = settings.made(self._bound)
        # LiteLLM changes tools in place for some providers, so each request has its own.
        return chat, fresh(bound) | request["kwargs"]

    def _bound(
        self, settings: Frame, api_key: str | None = None
    ) -> tuple[RetraiChatLiteLLM, dict[str, Any]]:
        chat = None if api_key else self._models.get(settings["spec"])
        if chat is None:
            spec = ModelSpec.model_validate_json(settings["spec"])
            chat = make_model(spec, self._report, api_key)
            if not api_key:
                self._models[settings["spec"]] = chat
        if settings["tools"] is None:
            choice = settings["tool_choice"]
            return chat, {} if choice is None else {"tool_choice": choice}
        # LangChain's integration says what each provider makes of a choice of tools.
        return chat, chat.bound(settings["tools"], settings["tool_choice"])


def _conversation(request: Frame) -> list[BaseMessage]:
    messages: list[Kept] = request["messages"]
    return [message.made(unpacked) for message in messages]
