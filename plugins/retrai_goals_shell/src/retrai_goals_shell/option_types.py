"""Types of options: lists that may be one text, and regular expressions."""

from __future__ import annotations

import re

from pydantic import AfterValidator, BeforeValidator


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value or []


def _compile(value: list[str] | str | None) -> list[str] | str | None:
    for pattern in [value] if isinstance(value, str) else value or ():
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"is not a valid regular expression: {pattern!r}: {error}") from error
    return value


OneOrMore = BeforeValidator(_as_list)
"""Lets a list of texts be one text."""
IsRegex = AfterValidator(_compile)
"""Refuses a text, or a text in a list, that is not a valid regular expression."""
