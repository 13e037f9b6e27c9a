"""Cuts a text in the middle and says how much was cut."""

from __future__ import annotations


def shorten(text: str, max_chars: int) -> str:
    """The text, or its beginning and its end with a note between, `max_chars` at the most.

    Example:
        >>> shorten("short", 40)
        'short'
        >>> print(shorten("a" * 500 + "b" * 500, 60))
        aaaaaaaaaaaaa
        ... 974 characters left out ...
        bbbbbbbbbbbbb
    """
    if len(text) <= max_chars:
        return text
    note = f"\n... {len(text)} characters left out ...\n"
    keep = max(0, max_chars - len(note)) // 2
    if keep == 0:
        return text[:max_chars]
    left_out = len(text) - 2 * keep
    return f"{text[:keep]}\n... {left_out} characters left out ...\n{text[-keep:]}"
