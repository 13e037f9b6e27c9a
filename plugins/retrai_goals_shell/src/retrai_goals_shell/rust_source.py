"""Reads Rust source far enough to find the tests that live inside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .brackets import OPEN, matching

_PIECE = re.compile(
    r"""
    //[^\n]*                                  # a comment to the end of the line
    | /\*                                     # a comment that may nest
    | b?r(?P<hashes>\#*)"                     # a raw string
    | b?"(?:\\.|[^"\\])*"                     # a string
    | b?'(?:\\(?:u\{[0-9a-fA-F_]+\}|x[0-9a-fA-F]{2}|.)|[^'\\\n])'   # a character, no lifetime
    """,
    re.VERBOSE | re.DOTALL,
)
_ENDS_WITH_SEMICOLON = re.compile(r"(?:pub(?:\([^)]*\))?\s+)?(?:use|static|type|extern\s+crate)\b")
_CONST = re.compile(r"(?:pub(?:\([^)]*\))?\s+)?const\s+(?!fn\b|unsafe\b|async\b|extern\b)")
_NAME = re.compile(r"\b(fn|struct|enum|trait|mod|const|static|type|union|use|macro_rules!)\s+(\w+)")
_TEST = re.compile(r"#\[\s*(?:\w+::)*(?:test|rstest|test_case|proptest)\b")
_FOR_TESTS = re.compile(r"#\[\s*cfg\s*\(\s*test\s*\)\s*\]")


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a module.

    Attributes:
        path: the modules inside the file that it is in, and its name (`tests::adds`).
        kind: `fn`, `struct`, `use`, ...
        attributes: its own and those of the modules around it, as written.
        start, end: its place in the file, without its attributes.
        body: the place of its first `{`; -1 when it has none.
        for_tests: it is a test, or stands in a module that is only there for tests.
    """

    path: str
    kind: str
    attributes: str
    start: int
    end: int
    body: int
    for_tests: bool

    @property
    def is_test(self) -> bool:
        """Whether libtest, or a macro that ends up there, runs it."""
        return self.kind == "fn" and bool(_TEST.search(self.attributes))


def blank(source: str) -> str:
    """The source with comments, strings and characters replaced by blanks, place by place."""
    out: list[str] = []
    at = 0
    while found := _PIECE.search(source, at):
        end = _end_of(source, found)
        out.append(source[at : found.start()])
        out.append(re.sub(r"[^\n]", " ", source[found.start() : end]))
        at = end
    return "".join([*out, source[at:]])


def items(source: str) -> list[Item]:
    """Every item of a file, those inside its modules too (functions are not looked into)."""
    masked = blank(source)
    return list(_items(source, masked, 0, len(masked), "", "", False))


def _end_of(source: str, found: re.Match[str]) -> int:
    text = found[0]
    if text == "/*":
        depth, at = 1, found.end()
        while depth and (mark := re.compile(r"/\*|\*/").search(source, at)):
            depth += 1 if mark[0] == "/*" else -1
            at = mark.end()
        return at if not depth else len(source)
    if found["hashes"] is not None:
        end = source.find('"' + found["hashes"], found.end())
        return len(source) if end < 0 else end + 1 + len(found["hashes"])
    return found.end()


def _items(
    source: str, masked: str, at: int, end: int, prefix: str, around: str, for_tests: bool
) -> Iterator[Item]:
    while (at := _skip_blank(masked, at, end)) < end:
        attributes = around
        while masked.startswith(("#[", "#!["), at):
            close = matching(masked, masked.index("[", at))
            attributes += source[at:close] + "\n"
            at = _skip_blank(masked, close, end)
        stop, body = _item_end(masked, at, end)
        if stop <= at:
            return
        head = masked[at : body if body >= 0 else stop]
        named = _NAME.search(head)
        # An `impl` or a macro call is known by its first line.
        kind, name = (named[1], named[2]) if named else ("item", " ".join(head.split()))
        path = f"{prefix}{name}"
        tests = for_tests or bool(_FOR_TESTS.search(attributes)) or bool(_TEST.search(attributes))
        yield Item(path, kind, attributes, at, stop, body, tests)
        if kind == "mod" and body >= 0:
            yield from _items(source, masked, body + 1, stop - 1, f"{path}::", attributes, tests)
        at = stop


def _skip_blank(masked: str, at: int, end: int) -> int:
    while at < end and masked[at].isspace():
        at += 1
    return at


def _item_end(masked: str, start: int, end: int) -> tuple[int, int]:
    """Where an item ends, and where its body begins (-1 for none)."""
    head = masked[start : start + 200]
    to_semicolon = bool(_ENDS_WITH_SEMICOLON.match(head) or _CONST.match(head))
    at = start
    while at < end:
        sign = masked[at]
        if sign == ";":
            return at + 1, -1
        if sign == "{" and not to_semicolon:
            return min(matching(masked, at), end), at
        at = matching(masked, at) if sign in OPEN else at + 1
    return end, -1
