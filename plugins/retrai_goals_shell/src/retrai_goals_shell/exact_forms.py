"""What exact expectations of Rust tests look like: `assert_eq!` with one literal."""

from __future__ import annotations

import re

from retrai_goal_support import LITERAL, ExactForms

_RUST_LITERAL = rf"(?P<literal>{LITERAL})"
_RUST_END = r"""(?:,\s*"[^"\n]*"[^;]*)?,?\s*\);"""
"""What may follow: a message with its values."""
RUST = ExactForms(
    start=re.compile(
        r"^(?=(?:[ \t]*#\[[^\n]*\n)*?[ \t]*#\[[^\n]*test\b)(?:[ \t]*#\[[^\n]*\n)+"
        r"(?P<indent>[ \t]*)(?:pub )?(?:async )?fn (?P<name>\w+)\([^{;]*\{",
        re.MULTILINE,
    ),
    exact=[
        re.compile(rf"\s*assert_eq!\(\s*(?P<actual>[^;]*?),\s*{_RUST_LITERAL}\s*{_RUST_END}"),
        re.compile(rf"\s*assert_eq!\(\s*{_RUST_LITERAL},\s*(?P<actual>[^;]*?)\s*{_RUST_END}"),
    ],
    leaves=re.compile(r"\breturn\b"),
    unsure=re.compile(r"approx|round|epsilon|any|abs\(", re.IGNORECASE),
    dodges=re.compile(r"should_panic|ignore|cfg(?!\s*\(\s*test\s*\))"),
)
