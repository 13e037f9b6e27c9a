"""Model calls with the caller's own key."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from retrai_core import KeyedModels, ModelError, RetraiError, RunManager, UsageError

from .options import ReactOptions
from .schemas import LlmConfig

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

_MAX_MESSAGE = 400
_SHORT_KEY = 8
"""A key of fewer characters is looked for between words only."""
_ADDRESS = re.compile(
    r"\w+://\S+|\b(?:host )?(?:localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?"
    r"|(?<![\w/])(?:/[\w.@-]+){2,}"
)


class ModelCallError(Exception):
    """There is no answer.

    Args:
        code: for programs.
        message: for people, without a key, an address or a path.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Models:
    """Asks models by the server's own configuration and the caller's key.

    Args:
        manager: the server's.
        closing: what holds the providers until the server ends.
        options: which models may be named, and how long an answer may take.
    """

    def __init__(self, manager: RunManager, closing: AsyncExitStack, options: ReactOptions) -> None:
        self._manager = manager
        self._closing = closing
        self._options = options
        self._keyed: KeyedModels | None = None
        self._opening = asyncio.Lock()

    async def ask(self, config: LlmConfig, key: str, messages: Sequence[BaseMessage]) -> AIMessage:
        """The model's answer.

        Raises:
            ModelCallError: there is none.
        """
        name = config.model_name
        if not self._may_name(name):
            raise ModelCallError("MODEL_NOT_ALLOWED", f"this server does not serve {name}")
        problem: ModelCallError
        try:
            async with asyncio.timeout(self._options.timeout_s):
                models = await self._models()
                model = await models.make(name, key, config.temperature)
                return await model.ainvoke(list(messages), max_tokens=config.reserved_output_tokens)
        except TimeoutError:
            said = f"{name} did not answer within {self._options.timeout_s:g} s"
            problem = ModelCallError("MODEL_TIMEOUT", said)
        except ModelError as error:
            problem = ModelCallError("MODEL_CALL_FAILED", sanitised(error.message, key))
        except UsageError as error:
            words = f"{error.message}: {error.hint}" if error.hint else error.message
            problem = ModelCallError("MODEL_UNKNOWN", sanitised(words, key))
        except RetraiError as error:
            problem = ModelCallError("MODEL_UNAVAILABLE", sanitised(error.message, key))
        except Exception as error:  # noqa: BLE001 - a provider's own: a failed call is an answer
            what = f"the call of {name} failed: {type(error).__name__}"
            problem = ModelCallError("MODEL_CALL_FAILED", sanitised(what, key))
        # Outside the handlers: nothing that is raised here carries the original, which may have
        # the key in it.
        raise problem

    def _may_name(self, name: str) -> bool:
        """Whether a caller may name the model; a name with an address in it would be a way to send
        the request elsewhere."""
        if "://" in name or not name.isprintable() or " " in name:
            return False
        return any(fnmatchcase(name, glob) for glob in self._options.models)

    async def _models(self) -> KeyedModels:
        async with self._opening:
            if self._keyed is None:
                opened = self._manager.keyed_models()
                self._keyed = await self._closing.enter_async_context(opened)
            return self._keyed


def sanitised(text: str, key: str) -> str:
    """A message that may be shown to a caller.

    Example:
        >>> sanitised("no access to openai/gpt-4o: key sk-1 at http://10.0.0.5:80/v1", "sk-1")
        'no access to openai/gpt-4o: key [redacted] at [address]'
    """
    shown = re.escape(key)
    if len(key) < _SHORT_KEY:  # a local server's may be `k`
        shown = rf"(?<!\w){shown}(?!\w)"
    text = _ADDRESS.sub("[address]", re.sub(shown, "[redacted]", text))
    return text if len(text) <= _MAX_MESSAGE else f"{text[: _MAX_MESSAGE - 3]}..."
