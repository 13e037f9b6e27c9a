"""The lines of a Python file without its comments, which no program runs."""

from __future__ import annotations

import ast
import io
import re
import tokenize

_OTHER_TEXT = re.compile(
    r"\A(?:.*\n)?[ \t\f]*#.*coding[:=][ \t]*(?![ \t]|utf-?8\b|ascii\b)|\r(?!\n)"
)
"""What makes Python read characters or lines other than those here."""


def code_lines(path: str, text: str) -> list[str]:
    """The lines of a file, with spaces in the place of the comments of Python.

    A file in another language, and one that retrai's own Python cannot read, stays as it is.

    Args:
        path: of the file, for its ending.
        text: of the file.

    Example:
        >>> code_lines("x.py", "a = 1  # exit(0)\\nb = '# no'")
        ['a = 1           ', "b = '# no'"]
    """
    lines = text.split("\n")
    if not path.endswith((".py", ".pyi")) or _OTHER_TEXT.search(text):
        return lines
    try:
        ast.parse(text)  # the tokenizer takes what it does not know for comments
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return lines
    for token in tokens:
        if token.type == tokenize.COMMENT:
            (number, start), (_, end) = token.start, token.end
            line = lines[number - 1]
            lines[number - 1] = line[:start] + " " * (end - start) + line[end:]
    return lines
