"""Another value of the same type, for expectations that are changed on purpose."""

from __future__ import annotations

import re

MARK = "retrai contradiction"
LITERAL = (
    r"""-?\d[\d_]*(?:\.\d+)?(?:_?[iuf](?:8|16|32|64|128|size))?|"(?:[^"\\]|\\.)*"|true|false"""
)
_NUMBER = re.compile(r"(-?)(\d[\d_]*)(?:\.(\d+))?(_?[iuf](?:8|16|32|64|128|size))?")


def contradiction_of(literal: str) -> str | None:
    """A literal that nothing equals which equals this one; None where there is none.

    Numbers stay small and positive ones positive, so that they fit the type of the first.

    Example:
        >>> [contradiction_of(text) for text in ("3", "250u8", "-1.5", "true", '"a"', "x")]
        ['20', '233u8', '-18.5', 'false', '"a retrai contradiction"', None]
    """
    if literal in ("true", "false"):
        return "false" if literal == "true" else "true"
    if len(literal) > 1 and literal[0] == literal[-1] and literal[0] in "\"'`":
        return f"{literal[:-1]} {MARK}{literal[-1]}"
    found = _NUMBER.fullmatch(literal)
    if found is None:
        return None
    sign, whole, fraction, suffix = found.groups(default="")
    number = int(whole.replace("_", ""))
    if number > 10**12:
        return None  # beyond this a float may round the difference away
    number = number + 17 if number < 100 else number - 17
    return f"{sign}{number}{'.' + fraction if fraction else ''}{suffix}"
