"""Leaving out a part of a contract: possible, and only with a written reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])

_REASON = "_retrai_overrides_reason"
_FEWEST_WORDS = 3


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """Stands where the kit asks for an example that a plugin cannot give, and says why.

    Raises:
        ValueError: the reason is shorter than three words.

    Example:
        >>> NotApplicable("it starts no process").reason
        'it starts no process'
    """

    reason: str

    def __post_init__(self) -> None:
        _require_words(self.reason)


def overrides(*, reason: str) -> Callable[[F], F]:
    """Allow a test of the kit to be replaced.

    Without it, `test_every_replaced_test_says_why` fails.

    Args:
        reason: why this plugin cannot keep that part of the contract, for those who read the tests.

    Raises:
        ValueError: the reason is shorter than three words.

    Example:
        >>> @overrides(reason="the server that it speaks to has no such answer")
        ... def test_something(): ...
        >>> reason_of(test_something)
        'the server that it speaks to has no such answer'
    """
    _require_words(reason)

    def mark(function: F) -> F:
        setattr(function, _REASON, reason)
        return function

    return mark


def reason_of(test: object) -> str:
    """The written reason of a replaced test; empty when there is none."""
    return str(getattr(test, _REASON, ""))


def _require_words(reason: str) -> None:
    if len(reason.split()) < _FEWEST_WORDS:
        raise ValueError(f"{reason!r} is no reason: write a sentence that a reader can judge")
