"""Reads single lines of a manifest that retrai wrote, which have a fixed form.

A list needs two lines of each plugin; parsing the whole TOML file would double its time.
"""

from __future__ import annotations

WRITTEN = "# Written by `retrai plugins manifest`"
"""How a manifest begins that we wrote."""
SCHEMA = 1
"""The form of a manifest that this retrai reads."""


class ManifestLines:
    """The lines of one manifest; for anything else, use a TOML reader.

    Example:
        >>> text = f'{WRITTEN}\\nschema = 1\\n\\n[goals.tidy]\\n'
        >>> text += 'summary = "all tidy"\\nneeds = ["read"]\\n'
        >>> manifest = ManifestLines.of(text.encode())
        >>> manifest.text("goals.tidy", "summary"), manifest.texts("goals.tidy", "needs")
        ('all tidy', ('read',))
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @classmethod
    def of(cls, raw: bytes) -> ManifestLines | None:
        """None where the file is not as we write it: somebody else did, or it is damaged."""
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            return None
        is_ours = text.startswith(WRITTEN) and f"\nschema = {SCHEMA}\n" in text
        return cls(text) if is_ours and all(map(_has_form, text.splitlines())) else None

    @classmethod
    def at(cls, path: str) -> ManifestLines | None:
        """The same for a file; None where it cannot be read, too."""
        try:
            with open(path, "rb") as file:
                return cls.of(file.read())
        except OSError:
            return None

    def text(self, table: str, key: str) -> str | None:
        """A plain text; None where there is none, or it takes a TOML reader."""
        line = self._line(table, key)
        is_plain = line[:1] == line[-1:] == '"' and len(line) > 1 and "\\" not in line
        return line[1:-1] if is_plain else None

    def texts(self, table: str, key: str) -> tuple[str, ...] | None:
        """A list of plain texts; None where there is none, or it takes a TOML reader."""
        line = self._line(table, key)
        if line == "[]":
            return ()
        is_plain = line.startswith('["') and line.endswith('"]') and "\\" not in line
        texts = tuple(line[2:-2].split('", "')) if is_plain else ()
        return texts if texts and not any('"' in text for text in texts) else None

    def lacks(self, table: str, key: str) -> bool:
        """Whether the table is there, as one has it without quotes, and says nothing of the key."""
        return f"\n[{table}]\n" in self._text and not self._line(table, key)

    def _line(self, table: str, key: str) -> str:
        section = self._text.partition(f"\n[{table}]\n")[2].partition("\n[")[0]
        return f"\n{section}".partition(f"\n{key} = ")[2].partition("\n")[0]


def _has_form(line: str) -> bool:
    if not line or line.startswith(("#", "    { ")) or line == "]":
        return True
    if line[0] == "[":
        return line[-1] == "]"
    _, equals, value = line.partition(" = ")
    return bool(equals) and (value[-1:] in ('"', "]", "}", "[") or value.isalnum())
