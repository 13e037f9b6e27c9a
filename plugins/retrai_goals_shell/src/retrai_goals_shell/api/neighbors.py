"""Requests near those that an API is checked with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice, zip_longest
from typing import Any, cast

Request = Mapping[str, Any]
"""As the client gets it: `path`, `method`, `json`, `headers`, `timeout`."""
_NUMBER = re.compile(r"(?<![\w.%-])\d{1,12}(?![\w.%])")
_NUMBER_IN_TEXT = re.compile(r"\d{1,12}")
_QUERY_TEXT = re.compile(r"(?<==)[^&=\d][^&=]*")
_SAFE = ("GET", "HEAD", "POST")
"""Another DELETE, PUT or PATCH could hit what the check never touches."""
_MAX_KEYS = 20
_OF_FORMAT = (
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
    "user-agent",
)
"""Headers that are left as they are."""


def neighbors_of(requests: Iterable[Request], most: int) -> list[Request]:
    """Requests of the same kinds with other numbers, texts and header values, each once, the first
    of each request first. There are none near a DELETE, PUT or PATCH.

    Args:
        requests: those of the check.
        most: so many at most.

    Example:
        >>> request = {"path": "/items/7?sort=name", "method": "GET", "json": None, "headers": {}}
        >>> [each["path"] for each in neighbors_of([request], 4)]
        ['/items/8?sort=name', '/items/7?sort=namex', '/items/6?sort=name', '/items/7?sort=']
    """
    known = [*map(dict, requests)]
    found: list[Request] = []
    for each in _in_turn(_near(each) for each in known if each["method"] in _SAFE):
        if len(found) >= most:
            break
        if each not in known and each not in found:
            found.append(each)
    return found


def _near(request: Request) -> Iterator[Request]:
    path: str = request["path"]
    headers: dict[str, str] = request["headers"]
    ways = [
        *(_in_place(path, place, _other_number(place[0])) for place in _NUMBER.finditer(path)),
        *(_in_place(path, place, _other_text(place[0])) for place in _QUERY_TEXT.finditer(path)),
    ]
    yield from ({**request, "path": other} for other in _in_turn(ways))
    yield from ({**request, "json": other} for other in _other_json(request["json"]))
    for name, value in headers.items():
        if name.lower() not in _OF_FORMAT and value:
            last = "a" if value[-1] != "a" else "b"
            yield {**request, "headers": {**headers, name: f"{value[:-1]}{last}"}}


def _in_place(path: str, place: re.Match[str], others: Iterable[object]) -> list[str]:
    return [f"{path[: place.start()]}{other}{path[place.end() :]}" for other in others]


def _in_turn(ways: Iterable[Iterable[Any]]) -> Iterator[Any]:
    """The first of each, then the second of each."""
    missing = object()
    together = chain.from_iterable(zip_longest(*ways, fillvalue=missing))
    return (one for one in together if one is not missing)


def _other_number(text: str) -> list[int]:
    number = int(text)
    return [number + 1, *([number - 1] if number else []), 0, number * 10 + 7, number + 2]


def _other_text(text: str) -> list[str]:
    """Also with another last number, of a date say."""
    *_, last = [None, *_NUMBER_IN_TEXT.finditer(text)]
    others = [int(last[0]) + 1, max(int(last[0]) - 1, 0)] if last else []
    width = len(last[0]) if last else 0
    found = [f"{text[: last.start()]}{n:0{width}}{text[last.end() :]}" for n in others if last]
    return [*found, f"{text}x", ""]


def _other_json(value: object) -> Iterator[object]:
    """Values of the same shape that differ in one place."""
    match value:
        case bool():
            yield not value
        case int() | float():
            yield from (value + 1, value - 1, 0)
        case str():
            yield from _other_text(value)
        case dict():
            known = cast("dict[str, object]", value)
            some = islice(known.items(), _MAX_KEYS)
            ways = [[{**known, key: other} for other in _few(each)] for key, each in some]
            yield from _in_turn(ways)
        case list():
            items = cast("list[object]", value)
            yield from (items[::-1], items[:-1])
            ways = [
                [[*items[:at], other, *items[at + 1 :]] for other in _few(each)]
                for at, each in enumerate(items[:3])
            ]
            yield from _in_turn(ways)
        case _:
            pass


def _few(value: object) -> Iterator[object]:
    return islice(_other_json(value), 4)
