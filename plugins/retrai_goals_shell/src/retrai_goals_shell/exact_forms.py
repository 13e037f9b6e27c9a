"""What exact expectations of Go and Rust tests look like.

In Go, `if ... != LITERAL {` before `t.Error` or `t.Fatal`, and the field `want: LITERAL` of a table
whose rows are compared with `!= row.want`. In Rust, `assert_eq!` with one literal.
"""

from __future__ import annotations

import re

from retrai_goal_support import LITERAL, ExactForms

_GO_LITERAL = rf"(?P<literal>{LITERAL}|`[^`\n]*`)"
GO = ExactForms(
    start=re.compile(
        r"^(?P<indent>)func\s+(?P<name>(?:Test|Fuzz)\w*)\s*\(\s*\w+\s+\*testing\.[TF]\s*\)\s*\{",
        re.MULTILINE,
    ),
    exact=[
        re.compile(
            rf"\s*if\s+(?P<actual>[^{{\n]*)!=\s*{_GO_LITERAL}\s*\{{\s*t\.(?:Error|Fatal)f?\("
        )
    ],
    leaves=re.compile(r"\breturn\b|\bt\.Skip|\bcontinue\b"),
    unsure=re.compile(r"err|panic|skip|approx|round|delta|epsilon|math\.|&&|\|\|", re.IGNORECASE),
    row=re.compile(
        rf"^[^\n]*\b(?:want|expected|exp)\w*:\s*{_GO_LITERAL}\s*[,}}][^\n]*$", re.MULTILINE
    ),
    compares_rows=re.compile(r"!=\s*\w+\.(?:want|expected|exp)\w*\b"),
)
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
