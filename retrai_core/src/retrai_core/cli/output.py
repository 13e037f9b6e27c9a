"""Prints text to a terminal, with its control characters made harmless.

The name of a file, a tool, a test or a model may contain escapes that recolour the screen, or
characters that reverse the text. They are printed as in JSON, `\\u001b`, so that printed JSON keeps
its meaning.
"""

from __future__ import annotations

import sys
import unicodedata

import click

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's categories of control and format characters, lone surrogates and line separators."""
_LAYOUT = "\n\t"


def visible(text: str, *, keep: str = _LAYOUT) -> str:
    """The text with every control and format character written out; those of `keep` are left.

    Example:
        >>> visible("a\\x1b[2J\\u202eb\\n")
        'a\\\\u001b[2J\\\\u202eb\\n'
        >>> visible("a\\nb", keep="")
        'a\\\\nb'
    """
    if text.isprintable():
        return text
    return "".join(
        char
        if char in keep or char.isprintable() or unicodedata.category(char) not in _HIDDEN
        else _written(char)
        for char in text
    )


def visible_name(name: str) -> str:
    """A name within a line: its line breaks are written out too."""
    return visible(name, keep="")


def echo(text: str = "", *, nl: bool = True, err: bool = False) -> None:
    """Write text for a person (or JSON), on standard output or standard error."""
    click.echo(visible(text), nl=nl, err=err)


def echo_patch(patch: str) -> None:
    """Write a patch: into a pipe or a file byte for byte, so that `git apply` takes it."""
    if sys.stdout.isatty():
        echo(patch, nl=False)
    else:
        click.echo(patch.encode(errors="surrogateescape"), nl=False)


def _written(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    code = ord(char)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
