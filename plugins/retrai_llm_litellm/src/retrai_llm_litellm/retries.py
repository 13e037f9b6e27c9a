"""When to ask again, and how long to wait: the server's word counts, within a limit."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from .problems import is_quota, is_web_page, nobody_there, status_of

FIRST_WAIT_S = 0.5
LONGEST_OWN_WAIT_S = 30.0
RESTART_RETRIES = 2
"""Where no server listens on this machine: it may be starting anew, and is not overloaded."""
RETRIED_STATUSES = frozenset({408, 409, 425, 429})


@dataclass(frozen=True)
class RetryPolicy:
    """How often one request is sent again.

    Attributes:
        max_retries: further attempts after the first.
        max_wait_s: the longest `Retry-After` that is waited for, in seconds; a server that asks
            for more ends the request at once.
    """

    max_retries: int = 5
    max_wait_s: float = 120.0

    def retries_of(self, error: BaseException) -> int:
        """How many further attempts an error is worth."""
        return min(self.max_retries, RESTART_RETRIES) if nobody_there(error) else self.max_retries

    def wait_s(self, error: BaseException, retries: int) -> float | None:
        """Seconds to wait before the next attempt; None when there should be none.

        Args:
            error: what the last attempt raised.
            retries: how many further attempts were made before it.
        """
        if retries >= self.retries_of(error) or not is_passing(error):
            return None
        asked_for = retry_after_s(response_headers(error))
        if asked_for is not None:
            return asked_for if asked_for <= self.max_wait_s else None
        # Half of it at random, so that several runs do not come back at the same moment.
        longest = min(FIRST_WAIT_S * 2**retries, LONGEST_OWN_WAIT_S)
        return longest * random.uniform(0.5, 1.0)


def is_passing(error: BaseException) -> bool:
    """Whether the same request may succeed later: overload, a lost connection, a time-out."""
    status = status_of(error)
    if status is None:
        return type(error).__name__ in ("APIConnectionError", "Timeout", "APITimeoutError")
    # A 200 that LiteLLM could not read counts as a broken answer, unless it is a web page.
    passes = status in RETRIED_STATUSES or status >= 500 or status == 200
    return passes and not is_quota(error) and not is_web_page(error)


def response_headers(error: BaseException) -> Mapping[str, str]:
    """The headers of the answer behind an error, by lower-case name."""
    headers: Any = getattr(error, "litellm_response_headers", None)
    if headers is None:
        headers = getattr(getattr(error, "response", None), "headers", None)
    if headers is None:
        return {}
    return {str(name).lower(): str(value) for name, value in headers.items()}


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """What the server asks for in `retry-after-ms` or `Retry-After`, in seconds.

    The latter is a number of seconds or a date (RFC 9110, section 10.2.3).

    Example:
        >>> retry_after_s({"retry-after": "7"})
        7.0
        >>> retry_after_s({"retry-after": "soon"}) is None
        True
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def _number(text: str | None) -> float | None:
    """A number that is not negative, or None."""
    try:
        value = float(text) if text is not None else -1.0
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None
