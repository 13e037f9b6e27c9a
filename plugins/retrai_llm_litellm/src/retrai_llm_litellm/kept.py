"""What the process that runs LiteLLM keeps of earlier requests: see `sent`, retrai's side of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from .frames import Frame

T = TypeVar("T")


@dataclass
class Kept:
    """One value that was sent, with what has been made of it."""

    value: Any
    _made: object = None

    def made(self, make: Callable[[Any], T]) -> T:
        """What `make` makes of the value, the first time only."""
        if self._made is None:
            self._made = make(self.value)
        return cast("T", self._made)


class KeptValues:
    """By the numbers that `sent` gave them."""

    def __init__(self) -> None:
        self._values: dict[int, Kept] = {}

    def __len__(self) -> int:
        return len(self._values)

    def resolve(self, request: Frame) -> None:
        """Put the values in the place of their numbers, and keep those that are new.

        To be called for every request, in the order in which they arrive.
        """
        if "settings" not in request:
            return
        for number, value in request.pop("new", ()):
            self._values[number] = Kept(value)
        request["settings"] = self._values[request["settings"]]
        request["messages"] = [self._values[number] for number in request["messages"]]
        for number in request.pop("forget", ()):
            del self._values[number]
