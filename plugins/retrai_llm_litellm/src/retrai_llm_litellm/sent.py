"""What one life of the process that runs LiteLLM was sent, so that nothing is sent to it twice.

A conversation grows by a few messages a turn, and its tools stay as they are. Each of these values
is sent once with a number, and named by it from then on, whichever messages a request leaves out,
changes or puts in another order, and whichever chat model asks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .frames import Frame

KEPT_AT_LEAST = 512
"""Values that the process keeps: the windows of several conversations."""

Shared = tuple[Hashable, Callable[[], object]]
"""A value that may have been sent before: what it is told apart by, and what makes it as JSON."""


@dataclass(frozen=True)
class Request:
    """What the process is asked to do.

    Attributes:
        op: what is to be done.
        own: what belongs to this request alone, as JSON.
        settings: the model and its tools; None for a request without a conversation.
        messages: the conversation.
    """

    op: str
    own: Mapping[str, Any] = field(default_factory=dict[str, Any])
    settings: Shared | None = None
    messages: Sequence[Shared] = ()


class Sent:
    """The numbers of what the process keeps. Requests must arrive in the order of their frames."""

    def __init__(self, at_least: int = KEPT_AT_LEAST) -> None:
        self._at_least = at_least
        self._next = itertools.count(1)
        self._numbers: dict[Hashable, int] = {}  # the last used one stands last

    def frame(self, number: int, request: Request) -> Frame:
        """The request as the process reads it: see `kept`."""
        frame: Frame = {"id": number, "op": request.op, **request.own}
        if request.settings is None:
            return frame
        new: list[tuple[int, object]] = []
        used = [self._number(shared, new) for shared in (request.settings, *request.messages)]
        frame["settings"], *frame["messages"] = used
        if new:
            frame["new"] = new
        if forgotten := self._forgotten(len(used)):
            frame["forget"] = forgotten
        return frame

    def take_back(self, frame: Frame) -> None:
        """Forget what a frame brought for the first time: it could not be sent."""
        numbers = {number for number, _ in frame.get("new", ())}
        self._numbers = {key: n for key, n in self._numbers.items() if n not in numbers}

    def _number(self, shared: Shared, new: list[tuple[int, object]]) -> int:
        key, make = shared
        number = self._numbers.pop(key, None)
        if number is None:
            number = next(self._next)
            new.append((number, make()))
        self._numbers[key] = number
        return number

    def _forgotten(self, used: int) -> list[int]:
        """What has not been used for the longest time; nothing of this request."""
        surplus = len(self._numbers) - max(self._at_least, used)
        oldest = list(itertools.islice(self._numbers, max(surplus, 0)))
        return [self._numbers.pop(key) for key in oldest]
