"""What a model is made of, in a form that can be sent to the process that makes it: no secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict

from .options import LiteLLMOptions

VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")


class ModelSpec(BaseModel):
    """One model of one provider.

    Attributes:
        model: LiteLLM's name of it.
        provider: LiteLLM's name of who serves it.
        temperature: what is asked for, unless the options say otherwise.
        options: the plugin's options.
        needs_no_key: a local server that asks for none is sent a placeholder.
        key_variables: where its key may stand, for messages.
        nearest: a known model's name that looks like this one, when it is not known itself.
        api_base: the server's address, where one was given, for messages.
        local_base: where a server of this kind listens on this machine, where none was given.
        attended: somebody sees what the run says, and can log in where that is asked for.
    """

    model_config = ConfigDict(frozen=True)

    model: str
    provider: str
    temperature: float
    options: LiteLLMOptions
    needs_no_key: bool = False
    key_variables: tuple[str, ...] = ()
    nearest: str | None = None
    api_base: str | None = None
    local_base: str | None = None
    attended: bool = True


def named_variables(options: LiteLLMOptions) -> Iterator[str]:
    """The environment variables that the options name: those in headers, and the key's own."""
    for value in options.extra_headers.values():
        yield from VARIABLE.findall(value)
    if options.api_key_env:
        yield options.api_key_env
