"""Changes what JavaScript tests expect: a project that gives real answers must fail them then.

Only two forms are changed, each a statement of its own on one line, directly in the function of a
test whose name is a plain string: `expect(...).toBe(LITERAL)` (or `toEqual`, `toStrictEqual`) and
`assert.equal(..., LITERAL)` (or `strictEqual`, `deepEqual`, `deepStrictEqual`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

MARK = "retrai contradiction"
_TRUTH = ("true", "false")
_LITERAL = r"""(?P<literal>-?\d+(?:\.\d+)?|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|true|false)"""
TEST = re.compile(
    r"""^(?P<indent>[ \t]*)(?P<declare>it|test)\(\s*"""
    r"""(?P<quote>["'`])(?P<name>(?:(?!(?P=quote))[^\\$])*)(?P=quote)\s*,""",
    re.MULTILINE,
)
"""The start of a test whose name is a plain string."""
_RECEIVED = (
    re.compile(rf"^{_LITERAL} (?:!==|==) ", re.MULTILINE),  # node's assertions
    re.compile(rf"^Received: +{_LITERAL}$", re.MULTILINE),  # jest, bun
    re.compile(rf"expected {_LITERAL} to (?:be|equal|deeply equal) "),  # vitest, chai
)
_EXPECT = re.compile(
    rf"^[ \t]*expect\((?P<actual>.*)\)\.(?:toBe|toEqual|toStrictEqual)\(\s*{_LITERAL}\s*\);?[ \t]*$"
)
_ASSERT = re.compile(
    r"^[ \t]*assert\.(?:strictEqual|equal|deepEqual|deepStrictEqual)"
    rf"\((?P<actual>.*),\s*{_LITERAL}\s*\);?[ \t]*$"
)
_LEAVES = re.compile(r"\breturn\b|\.skip\(|\bskip\(|\bawait\s+.*\.catch\(|\bdone\b")
_UNSURE = re.compile(
    r"\bany|closeTo|round|toFixed|approx|resolves|rejects|Math\.|=>", re.IGNORECASE
)
_NUMBER = re.compile(r"(-?)(\d+)(\.\d+)?")


def contradict_js_tests(
    folder: Path, cases: Iterable[str], limit: int, answers: Mapping[str, str] | None = None
) -> list[str]:
    """Change one expectation in each of the tests; the cases in which one was found.

    Args:
        folder: where the runner runs; its files are changed.
        cases: ids (`src/sum.test.ts::sum::adds`), the first ones first.
        limit: how many to change at most.
        answers: by case, the literal that the code answered before the run: it is expected then.
    """
    by_file: dict[str, list[str]] = {}
    for case in cases:
        path, separator, _ = case.partition("::")
        if separator and "#" not in case:
            by_file.setdefault(path, []).append(case)
    tried: list[str] = []
    for path, ids in by_file.items():
        if len(tried) < limit:
            tried += _contradict_file(folder / path, ids, answers or {})[: limit - len(tried)]
    return tried


def _contradict_file(path: Path, ids: list[str], answers: Mapping[str, str]) -> list[str]:
    try:
        lines = path.read_bytes().decode("utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        return []
    tests = [(number, found) for number, line in enumerate(lines) if (found := TEST.match(line))]
    titles = [found["name"] for _, found in tests]
    changed: list[str] = []
    for number, found in tests:
        title = found["name"]
        meant = [case for case in ids if case.endswith(f"::{title}")]
        # One title twice: which of them a case is cannot be said.
        if len(meant) != 1 or titles.count(title) != 1:
            continue
        if _change(lines, number, found["indent"], answers.get(meant[0], "")):
            changed.append(meant[0])
    if changed:
        path.write_bytes("\n".join(lines).encode())
    return changed


def _change(lines: list[str], start: int, indent: str, answer: str) -> bool:
    """Change the first exact expectation that stands directly in a test's function."""
    inner = ""
    for number in range(start + 1, len(lines)):
        line = lines[number].rstrip("\r")
        here = line[: len(line) - len(line.lstrip())]
        if not line.strip():
            continue
        if len(here) <= len(indent) or _LEAVES.search(line):
            return False  # the end of the test, or of what is surely reached
        inner = inner or here
        found = _EXPECT.match(line) or _ASSERT.match(line)
        if here != inner or found is None or _UNSURE.search(found["actual"]):
            continue
        literal = found["literal"]
        other = answer if _differ(answer, literal) else contradiction_of(literal)
        if other is not None:
            first, last = found.span("literal")
            lines[number] = lines[number][:first] + other + lines[number][last:]
            return True
    return False


def received(message: str) -> str:
    """The literal that an assertion was given, from its message; empty where it is not told.

    Example:
        >>> received("Expected values to be strictly equal:\\n\\n8 !== 12\\n")
        '8'
    """
    for pattern in _RECEIVED:
        if found := pattern.search(message):
            return found["literal"]
    return ""


def _differ(one: str, other: str) -> bool:
    """Whether two literals are of one type, and not even loosely equal."""
    if not one or (one in _TRUTH) != (other in _TRUTH):
        return False
    if one in _TRUTH:
        return one != other
    try:
        values = ast.literal_eval(one), ast.literal_eval(other)
    except (ValueError, SyntaxError):
        return False
    return isinstance(values[0], str) == isinstance(values[1], str) and values[0] != values[1]


def contradiction_of(literal: str) -> str | None:
    """A literal that nothing equals which equals this one; None where there is none.

    Example:
        >>> [contradiction_of(text) for text in ("3", "-1.5", "true", "'a'", "x")]
        ['23', '-19.5', 'false', "'a retrai contradiction'", None]
    """
    if literal in _TRUTH:
        return "false" if literal == "true" else "true"
    if len(literal) > 1 and literal[0] == literal[-1] and literal[0] in "\"'":
        return f"{literal[:-1]} {MARK}{literal[-1]}"
    found = _NUMBER.fullmatch(literal)
    # Beyond 2**53 numbers are rounded, and two of them may be one.
    if found is None or len(found[2]) > 12:
        return None
    return f"{found[1]}{int(found[2]) * 2 + 17}{found[3] or ''}"
