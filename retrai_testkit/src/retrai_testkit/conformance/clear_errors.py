"""What an error for people looks like."""

from __future__ import annotations

import re

from retrai_core import RetraiError

_LONGEST = 500
_ADDRESS = re.compile(r"<[^<>]* at 0x[0-9a-f]+>")


def require_clear_error(error: BaseException) -> None:
    """Fail unless `error` is of the RetraiError family and says what is wrong in one line."""
    assert isinstance(error, RetraiError), (
        f"{type(error).__name__} is not of the RetraiError family: {error}"
    )
    require_clear_line(str(error))


def require_clear_line(text: str) -> None:
    """Fail unless `text` is one line that a person can read."""
    assert text.strip(), "the message is empty"
    assert "\n" not in text.strip(), f"more than one line: {text!r}"
    assert len(text) <= _LONGEST, f"longer than {_LONGEST} characters: {text[:80]!r}..."
    assert not _ADDRESS.search(text), f"shows an object's address: {text!r}"
