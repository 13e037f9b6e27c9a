"""What exact expectations of Rust tests look like: `assert_eq!` with one literal."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from retrai_goal_support import LITERAL, ExactForms

_RUST_LITERAL = rf"(?P<literal>{LITERAL})"
_RUST_END = r"""(?:,\s*"[^"\n]*"[^;]*)?,?\s*\);"""
"""What may follow: a message with its values."""
_EQUALITY = re.compile(
    r"\bimpl\b[^{;]{0,200}?\bPartialEq\b[^{;]{0,200}?\bfor\s+(?:\w+::){0,9}(?P<type>[A-Z]\w*)"
)


def _exact_forms(expected: str) -> list[re.Pattern[str]]:
    """Both orders of `assert_eq!`, with a pattern of what is expected."""
    return [
        re.compile(rf"\s*assert_eq!\(\s*(?P<actual>[^;]*?),\s*{expected}\s*{_RUST_END}"),
        re.compile(rf"\s*assert_eq!\(\s*{expected},\s*(?P<actual>[^;]*?)\s*{_RUST_END}"),
    ]


RUST = ExactForms(
    start=re.compile(
        r"^(?=(?:[ \t]*#\[[^\n]*\n)*?[ \t]*#\[[^\n]*test\b)(?:[ \t]*#\[[^\n]*\n)+"
        r"(?P<indent>[ \t]*)(?:pub )?(?:async )?fn (?P<name>\w+)\([^{;]*\{",
        re.MULTILINE,
    ),
    exact=_exact_forms(_RUST_LITERAL),
    leaves=re.compile(r"\breturn\b"),
    unsure=re.compile(r"approx|round|epsilon|any|abs\(", re.IGNORECASE),
    dodges=re.compile(r"should_panic|ignore|cfg(?!\s*\(\s*test\s*\))"),
)


def types_with_equality(sources: Iterable[str]) -> set[str]:
    """The types that define their own equality, by hand.

    Example:
        >>> types_with_equality(["impl PartialEq for Money {", "#[derive(PartialEq)] struct Sum;"])
        {'Money'}
    """
    return {found["type"] for text in sources for found in _EQUALITY.finditer(text)}


def rust_forms(types: Collection[str]) -> ExactForms:
    """The forms of Rust, and the literal in `Money(5)` or `Money::of(5)` for these types."""
    if not types:
        return RUST
    names = "|".join(sorted(types))
    made = rf"(?P<made>&?(?:\w+::)*(?:{names})(?:::\w+)?\(\s*{_RUST_LITERAL}\s*\))"
    return replace(RUST, exact=[*RUST.exact, *_exact_forms(made)])
