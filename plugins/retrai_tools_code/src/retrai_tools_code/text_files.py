"""Bytes to text and back, so that a file keeps its encoding and its line ends."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from retrai_core import ToolError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins the same
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.MULTILINE)  # PEP 263
SNIFFED_BYTES = 8192


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file's text.

    Attributes:
        text: decoded, with the line ends it has.
        encoding: the codec that gave it.
        bom: the byte order mark that stood before it.
    """

    text: str
    encoding: str
    bom: bytes = b""

    def encode(self, text: str) -> bytes:
        """Other text as bytes in the same encoding.

        Raises:
            ToolError: the encoding lacks a character.
        """
        try:
            return self.bom + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            character = text[error.start]
            raise ToolError(
                f"the file is {self.encoding}, which has no {character!r}",
                hint="use characters of that encoding",
            ) from None

    def notes(self) -> list[str]:
        """What is unusual about the file, for the model."""
        found: list[str] = []
        if self.encoding != "utf-8":
            found.append(f"encoding {self.encoding}")
        elif self.bom:
            found.append("starts with a byte order mark")
        if "\r\n" in self.text:
            whole = self.text.count("\r\n") == self.text.count("\n")
            found.append("CRLF line ends" if whole else "mixed CRLF and LF line ends")
        return found


def decode(data: bytes, path: str) -> TextFile:
    """The text of a file: by its byte order mark, else UTF-8, else what it declares, else Latin-1.

    Raises:
        ToolError: it is binary.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            try:
                return TextFile(data[len(bom) :].decode(encoding), encoding, bom)
            except UnicodeDecodeError:
                break
    if is_binary(data):
        raise ToolError(f"{path!r} is a binary file of {len(data)} bytes")
    try:
        return TextFile(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass  # the next ones are tried in turn
    declared = _COOKIE.search(b"\n".join(data.split(b"\n", 2)[:2]))
    if declared is not None:
        encoding = declared.group(1).decode("ascii", "replace")
        try:
            return TextFile(data.decode(encoding), encoding)
        except (LookupError, UnicodeDecodeError):
            pass  # it declares what it is not
    return TextFile(data.decode("latin-1"), "latin-1")


def is_binary(data: bytes) -> bool:
    """Whether git and ripgrep would call it binary: a NUL byte near its beginning."""
    return b"\0" in data[:SNIFFED_BYTES]


def lines_of(text: str) -> list[str]:
    """The lines without their ends; only `\\n` and `\\r\\n` end one, as in every editor.

    Example:
        >>> lines_of("a\\r\\nb\\x0cc\\n")
        ['a', 'b\\x0cc']
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
