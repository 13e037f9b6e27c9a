"""Asking one search engine through ddgs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast
from urllib.parse import urlsplit

_MAX_SNIPPET = 500
_SLACK_S = 3.0


@dataclass(frozen=True, slots=True)
class Hit:
    """One result: where it is, what it is called, and a few of its words."""

    title: str
    url: str
    snippet: str


@dataclass(frozen=True, slots=True)
class Way:
    """How the engines are reached: seconds for each, a proxy, certificates to trust."""

    timeout_s: float
    proxy: str | None
    ca_file: str | None


class EngineError(Exception):
    """An engine gave nothing that can be used; the message says why."""


def known_engines() -> list[str]:
    """The names of the engines that ddgs searches texts with, sorted."""
    from ddgs.engines import ENGINES

    return sorted(ENGINES["text"])


async def ask(engine: str, query: str, count: int, way: Way) -> list[Hit]:
    """What one engine finds, at most `count`.

    Raises:
        EngineError: it cannot be reached, takes too long, or answers what is no list of results.
    """
    try:
        async with asyncio.timeout(way.timeout_s + _SLACK_S):
            raw = await asyncio.to_thread(_search, engine, query, count, way)
    except TimeoutError as error:
        raise EngineError(f"no answer within {way.timeout_s:g} s") from error
    hits = [hit for hit in map(_sound, raw) if hit is not None]
    if not hits:
        raise EngineError("it answers nothing that looks like a result")
    return hits[:count]


def _search(engine: str, query: str, count: int, way: Way) -> list[dict[str, Any]]:
    ddgs: Any = import_module("ddgs")  # only partly typed
    seconds = max(1, round(way.timeout_s))
    try:
        with ddgs.DDGS(proxy=way.proxy, timeout=seconds, verify=way.ca_file or True) as search:
            return search.text(query, backend=engine, max_results=count)
    except Exception as error:
        # Beside its own errors ddgs lets through whatever its parsers raise on a strange answer.
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise EngineError(why) from error


def _sound(raw: dict[str, Any]) -> Hit | None:
    """The result, when it has a title and leads to a page."""
    texts = {key: " ".join(str(cast("object", raw.get(key) or "")).split()) for key in raw}
    url, title = texts.get("href", ""), texts.get("title", "")
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or not title:
        return None
    return Hit(title[:200], url[:1000], texts.get("body", "")[:_MAX_SNIPPET])
