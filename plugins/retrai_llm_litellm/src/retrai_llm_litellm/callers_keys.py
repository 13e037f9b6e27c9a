"""Callers' own keys in the process that runs LiteLLM: gone as soon as their requests are answered.

LiteLLM keeps the client objects of some providers for an hour, each with its key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .lazy_litellm import load_litellm


class CallersKeys:
    """Knows the keys of the requests that are under way."""

    def __init__(self) -> None:
        self._used: Counter[str] = Counter()

    @contextmanager
    def used(self, key: str | None) -> Iterator[None]:
        """A request with a key; nothing keeps the key behind the last one that has it."""
        if key is None:
            yield
            return
        self._used[key] += 1
        try:
            yield
        finally:
            self._used[key] -= 1
            if not self._used[key]:
                del self._used[key]
                _forget(key)


def _forget(key: str) -> None:
    cache: Any = load_litellm().in_memory_llm_clients_cache
    for name, client in list(cache.cache_dict.items()):
        if getattr(client, "api_key", None) == key:
            cache.delete_cache(name)
            client.api_key = ""  # the cache lets go of it only later
