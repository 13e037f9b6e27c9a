"""What the process that runs LiteLLM does with each request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from .frames import Frame
from .lazy_litellm import inferred_provider
from .making import make_model
from .messages import packed, unpacked
from .pricing import cost_usd
from .spec import ModelSpec

if TYPE_CHECKING:
    from .chat_model import RetraiChatLiteLLM

Say = Callable[[Frame], None]


class Answering:
    """Answers requests by their `op`, and keeps the models that it made for them.

    Args:
        report: told each time that a request is sent again, in one line.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._models: dict[str, RetraiChatLiteLLM] = {}
        self._ops: Mapping[str, Callable[[Frame, Say], Awaitable[None]]] = {
            "generate": self._generate,
            "stream": self._stream,
            "cost": self._cost,
            "provider": self._provider,
        }

    async def answer(self, request: Frame, say: Say) -> None:
        """Do what is asked; the last thing that is said has `done`.

        Raises:
            ModelError: the model's server refused.
        """
        await self._ops[request["op"]](request, say)

    async def _generate(self, request: Frame, say: Say) -> None:
        chat, kwargs = self._called(request)
        generation = await chat.whole(unpacked(request["messages"]), request["stop"], **kwargs)
        usage: Any = getattr(generation.message, "usage_metadata", None)
        done = {
            "message": packed(generation.message),
            "info": generation.generation_info,
            "cost_usd": cost_usd(request["spec"]["model"], usage) if usage else None,
        }
        say({"done": done})

    async def _stream(self, request: Frame, say: Say) -> None:
        chat, kwargs = self._called(request)
        parts = chat.parts(unpacked(request["messages"]), request["stop"], **kwargs)
        async for part in parts:
            say({"part": {"message": packed(part.message), "info": part.generation_info}})
        say({"done": {}})

    async def _cost(self, request: Frame, say: Say) -> None:
        say({"done": {"cost_usd": cost_usd(request["model"], request["usage"])}})

    async def _provider(self, request: Frame, say: Say) -> None:
        say({"done": {"provider": inferred_provider(request["model"])}})

    def _called(self, request: Frame) -> tuple[RetraiChatLiteLLM, dict[str, Any]]:
        """The model that is asked, and what the request gives beside the conversation."""
        spec = ModelSpec.model_validate(request["spec"])
        key = spec.model_dump_json()
        chat = self._models.get(key)
        if chat is None:
            chat = self._models[key] = make_model(spec, self._report)
        kwargs: dict[str, Any] = dict(request["kwargs"])
        if "tools" in kwargs:
            # LangChain's integration says what each provider makes of a choice of tools.
            kwargs = chat.bound(kwargs.pop("tools"), kwargs.pop("tool_choice", None)) | kwargs
        return chat, kwargs
