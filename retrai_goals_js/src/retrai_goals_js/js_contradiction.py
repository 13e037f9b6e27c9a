"""What exact expectations of JavaScript tests look like, and what a failed one was given.

A statement of its own on one line, directly in the function of a test whose name is a plain string:
`expect(...).toBe(LITERAL)` (or `toEqual`, `toStrictEqual`) and `assert.equal(..., LITERAL)` (or
`strictEqual`, `deepEqual`, `deepStrictEqual`). The one that failed before the run may also stand
directly in a loop, and expect an object: `new Name(LITERAL, ...)`.
"""

from __future__ import annotations

import re

from retrai_goal_support import ExactForms

_LITERAL = r"""(?P<literal>-?\d+(?:\.\d+)?|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|true|false)"""
_OBJECT = r"(?P<object>new [\w$.]+\([^()]*\))"
_MESSAGE = r"""(?:"[^"\n]*"|'[^'\n]*'|`[^`\n]*`)"""
TEST = re.compile(
    r"""^(?P<indent>[ \t]*)(?P<declare>it|test)\(\s*"""
    r"""(?P<quote>["'`])(?P<name>(?:(?!(?P=quote))[^\\$])*)(?P=quote)\s*,""",
    re.MULTILINE,
)
"""The start of a test whose name is a plain string."""
FORMS = ExactForms(
    start=TEST,
    exact=[
        form
        for expected in (_LITERAL, _OBJECT)
        for form in (
            re.compile(
                r"[ \t]*expect\((?P<actual>.*)\)\.(?:toBe|toEqual|toStrictEqual)"
                rf"\(\s*{expected}\s*\);?\s*$",
                re.MULTILINE,
            ),
            re.compile(
                r"[ \t]*assert\.(?:deep)?(?:[sS]trict)?[eE]qual"
                rf"\((?P<actual>.*?),\s*{expected}\s*(?:,\s*{_MESSAGE}\s*)?\);?\s*$",
                re.MULTILINE,
            ),
        )
    ],
    leaves=re.compile(r"\breturn\b|\.skip\(|\bskip\(|\bawait\s+.*\.catch\(|\bdone\b"),
    unsure=re.compile(
        r"\bany|closeTo|round|toFixed|approx|resolves|rejects|Math\.|=>", re.IGNORECASE
    ),
    far=True,
    loops=[
        re.compile(rf"(?P<indent>[ \t]*){head}.*\{{[ \t]*$", re.MULTILINE)
        for head in (
            r"for \((?:const|let|var) .+? of (?P<source>.+)\) (?=\{[ \t]*$)",
            r"(?P<source>[\w$](?:[\w$.]|\([^()]*\))*)\.forEach\((?!async\b)",
        )
    ],
    one_item="((all) => (all.length > 0 || all.size > 0 ? all : [null]))(%s)",
    opposites=[
        (re.compile(r"[ \t]*assert\.(?P<failure>throws)\("), "doesNotThrow"),
        (re.compile(r"[ \t]*await assert\.(?P<failure>rejects)\("), "doesNotReject"),
        (re.compile(r"[ \t]*expect\(.*\)(?P<failure>\.)toThrow(?:Error)?\("), ".not."),
    ],
)
_RECEIVED = (
    re.compile(rf"^{_LITERAL} (?:!==|==) ", re.MULTILINE),  # node's assertions
    re.compile(rf"^Received: +{_LITERAL}$", re.MULTILINE),  # jest, bun
    re.compile(rf"expected {_LITERAL} to (?:be|equal|deeply equal) "),  # vitest, chai
)
_EXPECTED = re.compile(r"^- .*$| equal [\w$]+ ?\{.*$", re.MULTILINE)
"""What a message shows of an expected object, where the given one differs."""
_FIELD = re.compile(rf"[\w$\"']: {_LITERAL}(?=,| \}}|$)")


def compared(message: str) -> list[str]:
    """The literal that an assertion was given, or those that it expected in an object.

    Example:
        >>> compared("Expected values to be strictly equal:\\n\\n8 !== 12\\n")
        ['8']
        >>> compared("  Sum {\\n+   cents: 8,\\n-   cents: 12,\\n    currency: 'EUR'\\n")
        ['12']
    """
    for pattern in _RECEIVED:
        if found := pattern.search(message):
            return [found["literal"]]
    shown = (each[0] for each in _EXPECTED.finditer(message))
    return [found["literal"] for text in shown for found in _FIELD.finditer(text)]


def failed_line(case: str, message: str) -> int | None:
    """The line of a case's file that an error came through first, from its stack.

    Example:
        >>> failed_line("test/all.js", "Error: 3\\n  at f (lib/a.js:2:1)\\n  at test/all.js:9:5")
        9
    """
    path = re.escape(case.partition("::")[0])
    found = re.search(rf"(?<![\w./-]){path}:(\d{{1,7}})\b", message)
    return int(found[1]) if found else None
