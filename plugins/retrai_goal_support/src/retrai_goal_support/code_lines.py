"""The lines of a source file without what no program runs: comments and docstrings."""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
from collections.abc import Iterator

_SLASHES = re.compile(r"\.(?:[cm]?[jt]sx?|c|cc|cpp|h|hpp)$")
"""Files in which a line that begins with `//` is a comment."""
_COMMENT_LINE = re.compile(r"(?!.*(?:\*/|\$\{))\s*//(?![/!#@])[^\"'`]*$")
"""Such a line, where it can be no end of a longer comment or text that began before."""
_OTHER_TEXT = re.compile(r"\A(?:.*\n)?[ \t\f]*#.*coding[:=][ \t]*(?!utf-?8\b|ascii\b)|\r(?!\n)")
"""What has Python read other characters, or other lines, than stand here."""
_RUN = re.compile(r"__doc__|^\s*>>>", re.MULTILINE)
"""What runs docstrings: their examples, or who asks for them."""


def code_lines(path: str, text: str) -> list[str]:
    """The lines of a file, with spaces in the place of comments and, in Python, docstrings.

    A Python file that cannot be read, and a docstring that may be run, stay as they are. In C and
    JavaScript, only lines that begin with `//` are taken for comments, and in other languages none.

    Args:
        path: of the file, for its ending.
        text: of the file.

    Example:
        >>> code_lines("x.py", "a = 1  # exit(0)\\nb = '# no'")
        ['a = 1           ', "b = '# no'"]
        >>> code_lines("x.js", "// exit()\\na()")
        ['', 'a()']
    """
    lines = text.split("\n")
    if _SLASHES.search(path):
        return ["" if _COMMENT_LINE.match(line) else line for line in lines]
    if not path.endswith((".py", ".pyi")) or _OTHER_TEXT.search(text):
        return lines
    try:
        places = [*_comments(text), *(() if _RUN.search(text) else _docstrings(text))]
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return lines
    for (first, start), (last, end) in places:
        for number in range(first, last + 1):
            line = lines[number - 1]
            begin, stop = start if number == first else 0, end if number == last else len(line)
            lines[number - 1] = line[:begin] + " " * (stop - begin) + line[stop:]
    return lines


_Place = tuple[tuple[int, int], tuple[int, int]]
"""Where something begins and ends: line from 1, character from 0."""


def _comments(text: str) -> Iterator[_Place]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start, token.end


def _docstrings(text: str) -> Iterator[_Place]:
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(value)) as found) if not _is_code(value):
                last = found.end_lineno or found.lineno
                begin, end = found.col_offset, found.end_col_offset or 0
                # The parser counts bytes.
                yield (
                    (found.lineno, len(lines[found.lineno - 1].encode()[:begin].decode())),
                    (last, len(lines[last - 1].encode()[:end].decode())),
                )
            case _:
                pass


def _is_code(text: str) -> bool:
    """Whether a text could be run as it stands."""
    try:
        ast.parse(inspect.cleandoc(text))
    except SyntaxError:
        return False
    return True
